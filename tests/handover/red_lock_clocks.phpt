--TEST--
RedLock: a host whose clock is wrong gets its turns, and costs nobody else any
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_preloading();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/handover.inc';
require __DIR__ . '/../inc/clocks.inc';

/* Wants the lock again as soon as it has released it. */
$compete = <<<'PHP'
    $locks = new RedLock(explode(',', $argv[1]), prefix: 'Lock:');
    echo time(), "\n";
    fgets(STDIN);
    $sections = 0;
    for ($end = now() + 3; now() < $end; $sections++) {
        $lease = $locks->acquire($argv[2], 60, 30);
        pause(0.002);
        $lease->release();
    }
    echo "$sections\n";
    PHP;

// Each time on servers of its own: what they have counted up to by a clock that is ahead remains.
foreach (['10 min ahead' => 600, '10 min behind' => -600, 'a year ahead' => 365 * 24 * 3600, 'at 0' => -time()] as $name => $offset) {
    $servers = private_locks('RedLock', 3);
    $dsns = implode(',', array_map(fn (string $address) => "redis://$address", $servers->addresses));
    $resource = unique($name);
    $hosts = [php_child($compete, [$dsns, $resource], '', wrong_clock($offset))];
    for ($i = 0; $i < 3; $i++) {
        $hosts[] = php_child($compete, [$dsns, $resource]);
    }
    $clocks = array_map(fn (PhpChild $host) => (int) $host->readLine(), $hosts);
    within($offset - 20, $clocks[0] - $clocks[1], $offset + 20, "$name: how far the clocks are apart");
    array_walk($hosts, fn (PhpChild $host) => $host->writeLine('go'));
    $turns = array_map(fn (PhpChild $host) => (int) $host->readLine(60), $hosts);
    holds(array_sum($turns) > 100, "$name: turns in all", $turns);
    // A quarter each. Who is always the first gets every second one, who is always the last none.
    holds(min($turns) > array_sum($turns) / 5 && max($turns) < array_sum($turns) / 3, "$name: its turns, and those of the others", $turns);
    same([0, 0, 0, 0], array_map(fn (PhpChild $host) => $host->wait(), $hosts), "$name: how they ended");
    $servers->waitUntilQueuesGone($resource);
}
echo "done\n";
?>
--EXPECT--
done
