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

$count = 1000; // of each class
$ttl = 30.0;
$stat = function (RedisRaw $redis, string $field): int {
    preg_match("/^$field:(\d+)/m", $redis->cmd('INFO', 'stats'), $found);
    return (int) $found[1];
};
$all = [private_locks('DistributedLock'), private_locks('RedLock', 3)];
$managers = array_map(fn (Locks $locks) => $locks->manager(ttl: $ttl), $all);
$leases = [];
for ($i = 0; $i < $count; $i++) {
    foreach ($managers as $manager) {
        $leases[] = $manager->acquire("many-$i", 20);
    }
    // Spread over more than a third of the ttl, as in an application.
    if ($i % 250 === 249) {
        nap($ttl / 10);
    }
}
nap($ttl / 3 + 1); // by now all have been renewed once
$servers = [];
foreach ($all as $locks) {
    foreach ($locks->servers as $i => $server) {
        $monitor = $server->raw();
        $monitor->cmd('MONITOR');
        $raw = $server->raw();
        $servers["$locks->name, server $i"] = [$raw, $monitor, $stat($raw, 'total_reads_processed')];
    }
}
$renewals = Dlock\stats()['renewals'];
$start = now();
nap($ttl * 2 / 3);
$took = now() - $start;
$renewals = Dlock\stats()['renewals'] - $renewals;
$turns = $took / ($ttl / 3);
within(2 * $count * ($turns - 1.5), $renewals, 2 * $count * ($turns + 1.5), 'renewals');
foreach ($servers as $what => [$raw, $monitor, $reads]) {
    $reads = $stat($raw, 'total_reads_processed') - $reads;
    $raw->cmd('ECHO', 'the end');
    $batches = 0;
    $renewed = 0;
    $last = 0;
    while (!str_contains($line = $monitor->reply(), 'the end')) {
        if (!preg_match('/^([\d.]+) \[\d+ [\d.:]+\] "evalsha"/i', $line, $found)) {
            continue;
        }
        $renewed++;
        $batches += (float) $found[1] - $last > $ttl / 10;
        $last = (float) $found[1];
    }
    within(1, $batches, (int) ceil($turns) + 1, "$what: batches");
    within($count * ($turns - 1.5), $renewed, $count * ($turns + 1.5), "$what: requests");
    // The server reads 16 KiB at a time, about 80 requests.
    within(1, $reads, $renewed / 8, "$what: reads");
}
foreach ($leases as $lease) {
    $lease->isHeld() || exit("not held\n");
}
$leases = [];
unset($lease);
foreach ($servers as $what => [$raw]) {
    wait_for(fn () => preg_grep('/^dlock:/', $raw->cmd('KEYS', '*'), PREG_GREP_INVERT) === [], 60, "the release on $what");
}
echo "renewed\n"; // tells run-tests.php that the test is alive

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
renewed
done
