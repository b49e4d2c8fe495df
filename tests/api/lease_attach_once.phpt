--TEST--
A handle works once: attach() gives the lock another token and a greater fencing token, and voids every copy of the handle
--INI--
; Of servers that have just been started all have to say yes; here a majority is enough.
dlock.restart_guard=0
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/lease.inc';

use Dlock\LeaseLostException;
use Dlock\LeaseState;

// Processes of their own, not forked children: by then this process may have a thread that renews.
$said = fn (PhpChild $child) => json_decode($child->readLine());
$used = 'The handle of the lock "*" is no longer valid: it was already attached, or its lease was released or has expired';
foreach ([...shared_locks(), ...shared_pools()] as $locks) {
    $name = $locks->name;
    $manager = $locks->manager();
    $resource = unique($name);
    $on_servers = fn () => array_unique(array_map(fn (RedisRaw $redis) => $locks->token($redis, $resource), $locks->raw()));

    // A queue may deliver a handle twice.
    $lease = $manager->acquire($resource, ttl: 100);
    $handle = $lease->detach();
    $first = $manager->attach($handle);
    fails(LeaseLostException::class, $used, fn () => $manager->attach($handle), "$name: a second attach()");
    fails(LeaseLostException::class, $used, fn () => $locks->manager()->attach($handle), "$name: a third one, by another manager");
    same([true, LeaseState::Held], [$first->isHeld(), $first->state()], "$name: the first one");
    holds($first->token !== $lease->token && $first->fencingToken > $lease->fencingToken, "$name: with tokens of its own");
    wait_for(fn () => array_values($on_servers()) === [$first->token], 60, 'the new token on all servers');

    // attach() keeps the lease time that is left.
    within(50, $first->remaining(), 99, "$name: remaining() after attach()");
    foreach ($locks->raw() as $redis) {
        within(50_000, $locks->left($redis, $resource), 100_000, "$name: the lease time on a server");
    }
    $first->refresh(50);
    within(10, $first->remaining(), 49.5, "$name: refresh() after attach()");

    // Detached again, the lock has a new handle. Neither the old handle nor the old object can use it.
    $next = $first->detach();
    fails(LeaseLostException::class, $used, fn () => $manager->attach($handle), "$name: the first handle, detached again");
    fails(LeaseLostException::class, '*', $lease->assertHeld(...), "$name: the first lease");
    $second = $manager->attach($next);
    holds($second->fencingToken > $first->fencingToken, "$name: the fencing token rises again");
    fails(LeaseLostException::class, $used, fn () => $manager->attach($next), "$name: the second handle, twice");

    // While the lease is held, waiters wait; its release hands the lock over.
    $waiter = lease_child('
        $lease = $locks->manager()->acquire($resource, 60, 100);
        echo json_encode([$lease->fencingToken, $lease->isHeld()]), "\n";
        fgets(STDIN);
        echo json_encode($lease->release()), "\n";
    ', $locks, $resource);
    $locks->waitUntilQueued($resource, 1);
    same(true, $second->release(), "$name: release()");
    [$fence, $is_held] = $said($waiter);
    holds($is_held && $fence > $second->fencingToken, "$name: a waiter has it then", $fence);
    $waiter->writeLine('release');
    same(true, $said($waiter), "$name: its release");
    fails(LeaseLostException::class, $used, fn () => $manager->attach($next), "$name: after the release");

    // A lock that a waiter acquires and detaches at once has its whole lease time.
    $resource = unique("$name handed over");
    $held = $manager->acquire($resource);
    $waiter = lease_child('echo json_encode($locks->manager()->acquire($resource, 60, 100)->detach()), "\n";', $locks, $resource);
    $locks->waitUntilQueued($resource, 1);
    $held->release();
    $lease = $manager->attach($said($waiter));
    within(50, $lease->remaining(), 99, "$name: what was handed over");
    same(true, $lease->release(), "$name: its release");

    // Two processes attach at the same moment.
    $attaching = array_map(fn () => lease_child('
        $manager = $locks->manager();
        $manager->isLocked("x"); // connects
        echo "ready\n";
        while (is_string($handle = json_decode(fgets(STDIN)))) {
            try {
                $lease = $manager->attach($handle);
                echo json_encode([$lease->isHeld(), $lease->fencingToken]), "\n";
                fgets(STDIN);
                echo json_encode($lease->release()), "\n";
            } catch (Dlock\LeaseLostException) {
                echo "false\n";
            }
        }
    ', $locks, $resource), [0, 1]);
    array_map(fn (PhpChild $child) => same('ready', $child->readLine(), "$name: a process"), $attaching);
    $wins = [];
    $unattached = 0;
    for ($round = 0; $round < 100; $round++) {
        $lease = $manager->acquire("$resource race", ttl: 100);
        $handle = $lease->detach();
        $order = $round % 2 ? [1, 0] : [0, 1];
        foreach ($order as $i) {
            $attaching[$i]->writeLine(json_encode($handle));
        }
        $answers = array_map($said, $attaching);
        $winners = array_keys(array_filter($answers));
        // On several servers each process may win a minority, again and again. Then the handle is as good as before.
        same(true, count($winners) === 1 || ($name === 'RedLock' && count($winners) === 0),
            "$name: at most one of two processes has attached a handle in round $round");
        if ($winners === []) {
            $unattached++;
            $again = wait_for(function () use ($manager, $handle) {
                try {
                    return $manager->attach($handle);
                } catch (LeaseLostException) { // the losers' servers are released without waiting for an answer
                }
            }, 60, "a handle that nobody got, in round $round");
            same(true, $again->release(), "$name: its release in round $round");
        }
        foreach ($winners as $i) {
            holds($answers[$i][0] && $answers[$i][1] > $lease->fencingToken, "$name: isHeld() and a greater fencing token in round $round");
            $attaching[$i]->writeLine('release');
            same(true, $said($attaching[$i]), "$name: release() in round $round");
            $wins[$i] = true;
        }
    }
    same(2, count($wins), "$name: not always the same one");
    within(0, $unattached, 5, "$name: rounds in which nobody got it");
    foreach ($attaching as $child) {
        $child->writeLine('null');
        same([null, 0], [$child->readLine(), $child->wait()], "$name: its end");
    }
}
echo "done\n";
?>
--EXPECT--
done
