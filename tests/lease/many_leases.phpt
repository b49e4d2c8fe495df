--TEST--
A thousand leases are renewed in one batch per third of the ttl; the thread costs at most a MiB
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/lease.inc';

$count = 1000;
$ttl = 6.0;
foreach (['DistributedLock', 'RedLock'] as $name) {
    $locks = private_locks($name, 3);
    $manager = $locks->manager(ttl: $ttl);
    $stat = function (RedisRaw $redis, string $field): int {
        preg_match("/^$field:(\d+)/m", $redis->cmd('INFO', 'stats'), $found);
        return (int) $found[1];
    };
    $leases = [];
    for ($i = 0; $i < $count; $i++) {
        $leases[] = $manager->acquire("many-$i", 20);
        // Spread over more than a third of the ttl, as in an application.
        if ($i % 250 === 249) {
            nap($ttl / 10);
        }
    }
    nap($ttl / 3 + 1); // by now all have been renewed once
    $monitors = [];
    foreach ($locks->servers as $i => $server) {
        $monitors[$i] = $server->raw();
        $monitors[$i]->cmd('MONITOR');
    }
    $reads = array_map(fn ($redis) => $stat($redis, 'total_reads_processed'), $locks->raw());
    $renewals = Dlock\stats()['renewals'];
    $start = now();
    nap($ttl);
    $took = now() - $start;
    $renewals = Dlock\stats()['renewals'] - $renewals;
    $reads = array_map(fn ($redis, $before) => $stat($redis, 'total_reads_processed') - $before, $locks->raw(), $reads);
    foreach ($locks->raw() as $redis) {
        $redis->cmd('ECHO', 'the end');
    }
    $turns = $took / ($ttl / 3);
    within($count * ($turns - 1.5), $renewals, $count * ($turns + 1.5), "$name: renewals");
    foreach ($monitors as $i => $monitor) {
        $batches = 0;
        $renewed = 0;
        $last = 0;
        while (!str_contains($line = $monitor->reply(), 'the end')) {
            if (!preg_match('/^([\d.]+) \[\d+ [\d.:]+\] "evalsha"/i', $line, $found)) {
                continue;
            }
            $renewed++;
            $batches += (float) $found[1] - $last > 1.0;
            $last = (float) $found[1];
        }
        within(1, $batches, (int) ceil($turns) + 1, "$name, server $i: batches");
        within($count * ($turns - 1.5), $renewed, $count * ($turns + 1.5), "$name, server $i: requests");
        // The server reads 16 KiB at a time, about 80 requests.
        within(1, $reads[$i], $renewed / 8, "$name, server $i: reads");
    }
    foreach ($leases as $lease) {
        $lease->isHeld() || exit("$name: not held\n");
    }
    $leases = [];
    unset($lease);
    wait_for(fn () => $locks->raw()[0]->cmd('DBSIZE') <= 1, 60, 'the release');
    echo "$name\n"; // tells run-tests.php that the test is alive
}

// ---- memory ----
$code = '
    $lease = $locks->manager(ttl: 9.0)->acquire($resource, 0, $argv[4] === "renewed" ? null : 1000);
    nap(4);
    echo $lease->isHeld() ? "held" : "lost", " ", resident(), " ", threads(), "\n";
    fgets(STDIN);
';
foreach (renewed_locks_and_pools() as $name => $locks) {
    $sizes = [];
    for ($i = 0; $i < 3; $i++) {
        foreach (['renewed', 'explicit'] as $way) {
            $children[$way] = lease_child($code, $locks, unique("$name-$way-$i"), [$way]);
        }
        foreach ($children as $way => $child) {
            [$held, $size, $threads] = explode(' ', $child->readLine());
            same(['held', $way === 'renewed' ? '2' : '1'], [$held, $threads], "$name: $way");
            $sizes[$way][] = (int) $size;
            $child->writeLine('end');
            same(0, $child->wait(), "$name: $way");
        }
    }
    $more = median($sizes['renewed']) - median($sizes['explicit']);
    within(-1024, $more, 1024, "$name: KiB that renewal takes");
    if (getenv('DLOCK_TEST_SHOW')) {
        fprintf(STDERR, "%s: %d KiB more\n", $name, $more);
    }
}
echo "done\n";
?>
--EXPECT--
DistributedLock
RedLock
done
