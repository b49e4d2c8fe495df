--TEST--
A waiter acquires the lock soon after its release, in each combination of how holder and waiter lock
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$lock = fn () => new DistributedLock(redis_server());
$red = fn () => new RedLock(redis_servers(3), 50, 100_000);
$kinds = [
    'lock()' => [$lock, 'Lock:', fn ($m, $r) => $m->lock($r)],
    'lock() with a timeout' => [$lock, 'Lock:', fn ($m, $r) => $m->lock($r, 60)],
    'acquire()' => [$lock, 'Lock:', fn ($m, $r) => $m->acquire($r, 60)->release()],
    'tryAcquire()' => [$lock, 'Lock:', fn ($m, $r) => $m->tryAcquire($r, 60)->release()],
    'synchronized()' => [$lock, 'Lock:', fn ($m, $r) => $m->synchronized($r, fn ($lease) => $lease->isHeld(), 60)],
    'RedLock::lock()' => [$red, '', fn ($m, $r) => $m->unlock($m->lock($r))],
    'RedLock::acquire()' => [$red, '', fn ($m, $r) => $m->acquire($r, 60)->release()],
];
foreach ($kinds as $name => [$make, $prefix, $take]) {
    $resource = unique($name);
    $holder = $make();
    $lease = $holder->acquire($resource, 0, 100);
    $waiter = fork_child(function (callable $say) use ($make, $take, $resource) {
        $manager = $make();
        $manager->isLocked($resource); // connects
        $say('waits');
        $got = $take($manager, $resource);
        return [$got, now(), Dlock\stats()['waits']];
    });
    same('waits', $waiter->hear(), $name);
    // The waiter has tried: the server has received it, or will in a moment.
    pause(0.05);
    same(true, $lease->release(), "$name: release()");
    $released = now();
    [$got, $at, $waits] = $waiter->result();
    same(true, $got, "$name: what the waiter got");
    within(0, $waits, 1, "$name: waits");
    // Retries are up to 100 ms apart.
    within(-1, $at - $released, SOON, "$name: seconds from the release to the waiter");
}

// Two processes take turns: both get their turns, and never are both inside.
$log = temporary_directory() . '/log';
$resource = unique('turns');
$counts = fork_run(2, function (int $me) use ($lock, $resource, $log) {
    $manager = $lock();
    for ($i = 0; $i < 40; $i++) {
        $manager->synchronized($resource, function () use ($log, $me) {
            file_put_contents($log, "in $me\n", FILE_APPEND);
            pause(0.0005);
            file_put_contents($log, "out $me\n", FILE_APPEND);
        }, 60);
    }
    return $i;
});
same([40, 40], $counts, 'sections');
$lines = file($log, FILE_IGNORE_NEW_LINES);
same(160, count($lines), 'lines');
for ($i = 0; $i < 160; $i += 2) {
    same(str_replace('in', 'out', $lines[$i]), $lines[$i + 1], "line $i");
}
echo "done\n";
?>
--EXPECT--
done
