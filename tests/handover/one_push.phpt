--TEST--
A handover sends one message, and wakes exactly one process
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
require __DIR__ . '/../inc/handover.inc';

/**
 * Twelve processes hold in turn: what was sent for each handover, and how many others it woke. Null: the machine stood
 * still.
 */
function hand_over(Locks $locks, string $resource): ?array
{
    $lease = $locks->manager()->acquire($resource, 60, 1000);
    $line = $locks->line(12, $resource, null, 60, 1000);
    $woken = $sent = $messages = [];
    foreach ($line as $i => $waiter) {
        $start = now();
        foreach ($locks->raw() as $redis) {
            $redis->cmd('CONFIG', 'RESETSTAT');
        }
        $others = array_slice($line, $i + 1);
        $before = array_map(fn (ForkedChild $child) => voluntary_switches($child->pid), $others);
        $lease ? $lease->release() : $line[$i - 1]->say('release');
        $lease = null;
        wait_for(fn () => $waiter->hasSaid() || now() - $start > 1);
        $after = array_map(fn (ForkedChild $child) => voluntary_switches($child->pid), $others);
        $woken[] = count(array_filter($after, fn (int $switches, int $k) => $switches !== $before[$k], ARRAY_FILTER_USE_BOTH));
        foreach ($locks->raw() as $server => $redis) {
            $counts = command_counts($redis);
            $messages[$server] = ($messages[$server] ?? 0) + ($counts['publish'] ?? 0);
            $sent[$server][] = array_sum(sent_by_clients($redis));
        }
        $in_time = now() - $start < 1;
        if (!$in_time) {
            break;
        }
        $waiter->hear();
    }
    foreach ($line as $waiter) {
        $waiter->kill();
    }
    return $in_time ? [$woken, $sent, $messages] : null;
}

foreach (['DistributedLock', 'RedLock'] as $kind) {
    $locks = private_locks($kind);
    for ($attempt = 1; !($seen = hand_over($locks, unique("$kind-$attempt"))); $attempt++) {
        $attempt < 20 || throw new RuntimeException('no twelve hand-overs within a second each');
    }
    [$woken, $sent, $messages] = $seen;
    // RedLock: each server of the holder's majority sends a hint. A waiter that had to try twice may be told again, and
    // such an attempt takes more commands.
    $servers = count($messages);
    $more = max(0, array_sum(array_map(array_sum(...), $sent)) - 36 * $servers);
    within(12, array_sum($messages), $servers === 1 ? 12 : 18 * $servers + $more, "$kind: messages for 12 hand-overs");
    // Waiters look again now and then, but not in each of twelve short moments.
    same(0, min($woken), "$kind: other processes woken by a hand-over");
    within(0, median($woken), 3, "$kind: other processes woken, usually");
    // A release and a new lease time; RedLock: a release, an attempt, leaving the queue.
    foreach ($sent as $server => $counts) {
        within($servers === 1 ? 1 : 0, min($counts), $kind === 'DistributedLock' ? 2 : 3, "$kind: commands for a hand-over on server $server");
    }
}
echo "done\n";
?>
--EXPECT--
done
