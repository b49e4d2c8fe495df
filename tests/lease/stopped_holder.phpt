--TEST--
A holder that was stopped for longer than its lease reports the loss at its first question, and is told
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork', 'posix_kill');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/lease.inc';

$ttl = 2.0;
$goes_on = temporary_directory() . '/goes-on';
$children = [];
foreach (renewed_locks_and_pools() as $name => $locks) {
    foreach (['flag', 'throw', 'flag, a ttl', 'throw, a ttl'] as $way) {
        $resource = unique("$name-$way");
        $child = fork_child(function (callable $say) use ($locks, $resource, $way, $ttl, $goes_on) {
            $explicit = str_ends_with($way, 'ttl');
            $lease = patiently(fn () => $locks->manager(ttl: $ttl, onLoss: strtok($way, ','))->acquire($resource, 60, $explicit ? $ttl : null));
            $answers = [];
            try {
                $say(null); // the test may stop it from here on
                while (!is_file($goes_on)) { // a missing file is not cached
                    nap(0.001);
                }
                $answers = [$lease->isHeld(), $lease->state()->name, $lease->remaining()];
                busy(str_starts_with($way, 'throw') ? 60 : 1);
                $thrown = null;
            } catch (Dlock\LeaseLostException $e) {
                $thrown = $e->getMessage();
                $answers = $answers ?: [$lease->isHeld(), $lease->state()->name, $lease->remaining()];
            }
            return [$answers, $thrown, $lease->release()];
        });
        $child->hear();
        $child->signal(SIGSTOP);
        $children["$name, $way"] = [$locks, $resource, $child, str_starts_with($way, 'throw')];
    }
}
foreach ($children as [, , $child]) {
    wait_until_stopped($child->pid);
}
$others = [];
foreach ($children as $name => [$locks, $resource]) {
    $others[$name] = $locks->manager()->acquire($resource, 60, 100); // acquires the lock when the lease has expired
}
touch($goes_on);
foreach ($children as [, , $child]) {
    $child->signal(SIGCONT);
}
foreach ($children as $name => [$locks, $resource, $child, $throws]) {
    [$answers, $thrown, $released] = $child->result();
    same([false, 'Lost', 0.0], $answers, "$name: the first answers");
    same($throws ? "The lock \"$resource\" was lost while it was held" : null, $thrown, "$name: what is thrown");
    same(false, $released, "$name: release()");
    same([true, true], [$others[$name]->isHeld(), $locks->manager()->isLocked($resource)], "$name: the other one's lock");
}
foreach ($others as $name => $other) {
    same(true, $other->release(), "$name: release() by the other one");
}
echo "done\n";
?>
--EXPECT--
done
