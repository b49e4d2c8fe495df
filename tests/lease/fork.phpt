--TEST--
A process that renews forks twenty times: it continues, its children end, lock for themselves or become other programs; nothing leaks
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
skip_unless_functions('pcntl_fork', 'pcntl_exec', 'posix_kill');
skip_unless_forking_beside_threads();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';
require __DIR__ . '/../inc/lease.inc';

$ttl = 30.0; // no pause of the machine outlasts it
$short = 12.0; // where a renewal is waited for
foreach (['Redis' => false, 'Redis and ZooKeeper' => true] as $case => $with_zookeeper) {
    $all = renewed_locks_and_pools();
    $leases = [];
    foreach ($all as $name => $locks) {
        $leases[$name] = $locks->manager(ttl: $ttl)->acquire(unique("$case-$name"), 0);
        $values[$name] = all_values_of($locks, unique("$case-$name"));
    }
    if ($with_zookeeper) {
        $leases['ZkLock'] = (new ZkLock(zk_hosts(), sessionTimeout: 30))->acquire(unique($case), 0);
        $owner = zk_owner(zk_raw(), unique($case));
    }
    // What each child does after it has looked at its leases.
    $ends = [
        'exit' => fn () => exit(0),
        'kill' => fn () => posix_kill(getmypid(), SIGKILL),
        'exec' => fn () => pcntl_exec('/bin/sh', ['-c', 'exit 0']),
        'dropped' => function () use (&$leases) {
            $leases = [];
            gc_collect_cycles();
            exit(0);
        },
        'released' => function () use (&$leases) {
            exit(array_filter(array_map(fn ($lease) => $lease->release(), $leases)) === [] ? 0 : 9);
        },
        'locks' => function (callable $say) use (&$leases, $all, $short, $case, $with_zookeeper) {
            $mine = [];
            foreach ($all as $name => $locks) {
                $mine[$name] = $locks->manager(ttl: $short)->acquire(unique("$case-$name-" . getmypid()), 0);
                same(null, $locks->manager()->tryAcquire(unique("$case-$name")), "$case, child: the parent's lock of $name");
            }
            if ($with_zookeeper) {
                $mine['ZkLock'] = (new ZkLock(zk_hosts(), sessionTimeout: 30))->acquire(unique("$case-" . getmypid()), 60);
            }
            wait_for(fn () => Dlock\stats()['renewals'] >= count($all), 60, 'renewals');
            $held = array_map(fn ($lease) => $lease->state()->name, $mine);
            $say([$held, belongings(), Dlock\stats()['renewals']]);
            $released = array_map(fn ($lease) => $lease->release(), $mine);
            $say(array_values(array_unique($released)));
            $leases = [];
            exit(0);
        },
    ];
    // The parent is connected, has renewed, and has all that a first child leaves behind.
    $first = Dlock\stats()['renewals'];
    wait_for(fn () => Dlock\stats()['renewals'] >= $first + count($all), 60, 'renewals');
    fork_child(fn () => 1)->result();
    $before = belongings();
    $renewals = Dlock\stats()['renewals'];
    $start = now();
    for ($i = 0; $i < 20; $i++) {
        $end = array_keys($ends)[$i % count($ends)];
        // The child reports over a pipe of the test.
        $child = fork_child(function (callable $say) use ($end, $ends, &$leases) {
            $say([belongings(), array_map(fn ($lease) => [$lease->isHeld(), $lease->state()->name, $lease->remaining()], $leases)]);
            $ends[$end](...($end === 'locks' ? [$say] : []));
        });
        [$has, $states] = $child->hear();
        same(1, $has['threads'], "$case, child $i: threads");
        within(1, $has['descriptors'], $before['descriptors'] + 2, "$case, child $i: descriptors");
        same(array_fill_keys(array_keys($leases), [false, 'Lost', 0.0]), $states, "$case, child $i: the parent's leases");
        if ($end === 'locks') {
            [$held, $has, $renewed] = $child->hear();
            same(array_fill_keys(array_keys($leases), 'Held'), $held, "$case, child $i: its own leases");
            same($before['threads'], $has['threads'], "$case, child $i: threads with locks of its own");
            // A child that locks has connections of its own instead of its parent's, which it closes then.
            within(1, $has['descriptors'], $before['descriptors'] + ($with_zookeeper ? 8 : 2), "$case, child $i: descriptors with locks of its own");
            holds($renewed > 0, "$case, child $i: renewals");
            same([true], $child->hear(), "$case, child $i: release()");
        }
        $status = $child->wait();
        same($end === 'kill' ? SIGKILL : 0, pcntl_wifsignaled($status) ? pcntl_wtermsig($status) : pcntl_wexitstatus($status), "$case, child $i ($end): its end");
        unset($child);
        busy_until(fn () => belongings() === $before, 60) ?? same($before, belongings(), "$case, after child $i ($end): threads and descriptors of the parent");
        foreach ($all as $name => $locks) {
            same($values[$name], values_of($locks, unique("$case-$name")), "$case, after child $i: $name");
            same([true, 'Held'], [$leases[$name]->isHeld(), $leases[$name]->state()->name], "$case, after child $i: the lease of $name");
        }
    }
    foreach ($all as $name => $locks) {
        $least = INF;
        wait_for(function () use ($locks, $case, $name, &$least) {
            $left = times_of($locks, unique("$case-$name"));
            $least = min($least, ...$left);
            return min($left) > $least + 1000;
        }, 60, "$case: $name to be renewed again");
    }
    within((now() - $start) / ($ttl / 2), Dlock\stats()['renewals'] - $renewals, 100 * (now() - $start), "$case: renewals by the parent");
    if ($with_zookeeper) {
        same([$owner, 'Held', 1], [zk_owner(zk_raw(), unique($case)), $leases['ZkLock']->state()->name, Dlock\stats()['sessions']], 'the session of the parent');
    }
    foreach ($leases as $name => $lease) {
        same(true, $lease->release(), "$case: release() of $name");
    }
    $lease = null;
    echo "$case\n"; // tells run-tests.php that the test is alive
}

// ---- started programs inherit nothing ----
$code = '
    $count = fn () => (int) shell_exec("ls /proc/self/fd | wc -l");
    $before = $count();
    $leases = [$locks->manager(ttl: 30.0)->acquire($resource, 0)];
    echo $before, " ", $count(), " ", descriptors() > $before ? "more" : "none", " ", $leases[0]->state()->name, "\n";
';
$child = lease_child($code, $all['RedLock'], unique('exec'));
$words = explode(' ', trim($child->readAll()));
same([$words[0], 'more', 'Held'], array_slice($words, 1), 'descriptors of programs, before and after');

// ---- a fork at any moment of a renewal ----
$locks = $all['RedLock'];
$often = function () use ($locks) { // a slow machine may not answer within so short a lease
    try {
        return $locks->manager(ttl: 0.05, onLoss: 'flag')->tryAcquire(unique('often'), 5);
    } catch (Dlock\ConnectionException) {
        return null;
    }
};
$lease = $often();
for ($i = 0; $i < 60; $i++) {
    $child = fork_child(fn () => $locks->manager()->acquire(unique("often-$i"), 60)->release());
    same(true, $child->result(), "fork $i");
    if (!$lease?->isHeld()) {
        $lease = null;
        $lease = $often();
    }
}
$lease = null;

// ---- children of children, while all of them hold ----
$depth = function (int $n) use (&$depth, $all, $short): array {
    $lease = $all['DistributedLock']->manager(ttl: $short)->acquire(unique("depth-$n"), 0);
    $inner = $n > 0 ? fork_child(fn () => $depth($n - 1))->result() : [];
    wait_for(fn () => Dlock\stats()['renewals'] > 0, 60, 'a renewal');
    return [...$inner, [$lease->isHeld(), threads(), $lease->release()]];
};
same(array_fill(0, 4, [true, 2, true]), fork_child(fn () => $depth(3))->result(), 'children of children');
echo "done\n";
?>
--EXPECT--
Redis
Redis and ZooKeeper
done
