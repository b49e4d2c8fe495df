--TEST--
Dlock\stats() and phpinfo() count renewals, renewals that failed, losses, handovers, connections
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork', 'posix_kill');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/lease.inc';

/** What $do adds to the named counters. */
$added = function (array $names, callable $do): array {
    $before = Dlock\stats();
    $do();
    $after = Dlock\stats();
    foreach ($names as $name) {
        $added[$name] = $after[$name] - $before[$name];
    }
    return $added;
};
$ttl = 3.0;
foreach (['DistributedLock', 'RedLock'] as $name) {
    $locks = private_locks($name, 3);

    // ---- renewals: of each lease, once for all servers; none for a lease with a ttl. An answer that takes 3 s is a
    // failure: then it begins anew ----
    for ($attempt = 1; ; $attempt++) {
        $added_here = $added(['renewals', 'renewal_failures', 'losses', 'connections'], function () use ($locks) {
            $manager = $locks->manager(ttl: 30.0);
            $before = Dlock\stats()['renewals'];
            $leases = [$manager->acquire('a', 10), $manager->acquire('b', 10), $manager->acquire('c', 10, 100)];
            wait_for(fn () => Dlock\stats()['renewals'] >= $before + 2, 60, 'two renewals');
            foreach ($leases as $lease) {
                same(true, $lease->release(), 'release()');
            }
        });
        if ($added_here['renewal_failures'] === 0 || $attempt === 5) {
            break;
        }
        $locks = private_locks($name, 3);
    }
    same(2, $added_here['renewals'], "$name: renewals of two leases");
    same([0, 0], [$added_here['renewal_failures'], $added_here['losses']], "$name: failures, losses");
    same(2 * count($locks->addresses), $added_here['connections'], "$name: connections, of the renewals as well");
    same(0, $added(['renewals'], fn () => nap($ttl))['renewals'], "$name: renewals without leases");
    $manager = $locks->manager(ttl: $ttl);
    $long = $locks->manager(ttl: 60); // where no renewal has to notice it

    // ---- losses: one for each, however it becomes known ----
    $ways = [
        'isHeld()' => fn ($lease) => wait_for(fn () => !$lease->isHeld()),
        'state()' => fn ($lease) => wait_for(fn () => $lease->state() === Dlock\LeaseState::Lost),
        'release()' => fn ($lease) => same(false, $lease->release(), 'release()'),
        'var_dump()' => fn ($lease) => wait_for(fn () => str_contains(print_r($lease, true), '[state] => Lost')),
        'refresh()' => fn ($lease) => fails('Dlock\LeaseLostException', '*', fn () => $lease->refresh()),
    ];
    foreach ($ways as $way => $do) {
        same(1, $added(['losses'], function () use ($manager, $long, $locks, $do, $way) {
            $lease = patiently(fn () => (in_array($way, ['release()', 'refresh()'], true) ? $long : $manager)->acquire("lost-$way", 60));
            take_away($locks, "lost-$way", 'delete');
            $do($lease);
            [$lease->isHeld(), $lease->state(), $lease->remaining(), $lease->release(), $lease->release(), $lease->isHeld()];
        })['losses'], "$name: losses, known by $way");
    }
    same(1, $added(['losses'], function () use ($locks, $ttl) {
        $lease = patiently(fn () => $locks->manager(ttl: $ttl, onLoss: 'throw')->acquire('thrown', 60));
        take_away($locks, 'thrown', 'delete');
        same(Dlock\LeaseLostException::class, get_debug_type(thrown_by(fn () => busy(60))), 'onLoss: "throw"');
        [$lease->isHeld(), $lease->release()];
    })['losses'], "$name: losses that are thrown");
    same(1, $added(['losses'], fn () => thrown_by(fn () => $long->synchronized('section', fn () => take_away($locks, 'section', 'delete'))))['losses'],
        "$name: losses in a section");
    same(0, $added(['losses'], fn () => $long->acquire('kept', 10)->release())['losses'], "$name: losses without any");

    // ---- handovers ----
    for ($attempt = 1; ; $attempt++) {
        $lease = $long->acquire('handed', 60);
        $child = fork_child(function () use ($long) {
            $before = Dlock\stats();
            $lease = $long->acquire('handed', 60);
            $stats = Dlock\stats();
            return array_map(fn ($key) => $stats[$key] - $before[$key], ['hand_overs_received', 'waits', 'acquisitions']);
        });
        $locks->waitUntilQueued('handed', 1);
        $given = $added(['hand_overs_given', 'hand_overs_received'], fn () => $lease->release());
        [$received, $waits, $acquisitions] = $child->result();
        if ($name === 'RedLock' || $given['hand_overs_given'] + $received === 2 || $attempt === 10) {
            break;
        } // again: for a waiter that stands still the server waits three seconds
    }
    same([1, 1], [$waits, $acquisitions], "$name: waits and acquisitions of the one who waited");
    if ($name === 'DistributedLock') {
        same([['hand_overs_given' => 1, 'hand_overs_received' => 0], 1], [$given, $received], 'hand-overs');
    }

    // ---- failures and new connections ----
    $before = Dlock\stats()['renewals'];
    $lease = $locks->manager(ttl: 12.0)->acquire('gone', 0);
    wait_for(fn () => Dlock\stats()['renewals'] > $before, 60, 'a renewal');
    $down = $name === 'RedLock' ? [0, 1] : [0];
    $failed = $added(['renewal_failures', 'losses'], function () use ($locks, $lease, $down) {
        foreach ($down as $i) {
            $locks->servers[$i]->kill();
        }
        wait_for(fn () => $lease->state() === Dlock\LeaseState::Uncertain, 60, 'a renewal that fails');
        wait_for(fn () => !$lease->isHeld(), 60, 'the loss');
    });
    within(1, $failed['renewal_failures'], 100, "$name: renewals that failed");
    same(1, $failed['losses'], "$name: the loss");
    foreach ($down as $i) {
        $locks->servers[$i]->restart();
    }
    $again = $added(['reconnections', 'renewals'], function () use ($locks, $lease) {
        $before = Dlock\stats()['renewals'];
        $lease = null;
        // RedLock waits until the restarted servers are old enough to vote, if the other one was old enough by then.
        $lease = $locks->manager(ttl: 6.0)->acquire('again', 60);
        wait_for(fn () => Dlock\stats()['renewals'] > $before, 60, 'a renewal');
    });
    within(count($down), $again['reconnections'], 50, "$name: connections opened again");
    within(1, $again['renewals'], 100, "$name: renewals over them");
    $lease = null;
}

// ---- phpinfo() ----
ob_start();
phpinfo(INFO_MODULES);
$info = ob_get_clean();
$lease = null;
foreach (Dlock\stats() as $name => $value) {
    $shown = preg_match("/^$name => (.*)$/m", $info, $found) ? $found[1] : 'nothing';
    same((string) $value, $shown, "phpinfo(): $name");
}
echo "done\n";
?>
--EXPECT--
done
