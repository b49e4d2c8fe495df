--TEST--
RedLock under contention continues, without overlap, when one server is killed and another stops answering
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--INI--
dlock.restart_guard=0
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/handover.inc';

$locks = private_locks('RedLock', 5);
$locks = new Locks('RedLock', $locks->addresses, $locks->servers, '?connect_timeout=3&read_timeout=3');
$resource = unique();
$gate = gate();
file_put_contents("$gate.sections", '0');
$children = [];
for ($i = 0; $i < 8; $i++) {
    $children[] = $child = fork_child(function () use ($locks, $resource, $gate) {
        $manager = $locks->manager();
        $longest = 0;
        while (!is_file("$gate.end")) {
            $start = now();
            $lease = $manager->acquire($resource, 60, 60);
            $longest = max($longest, now() - $start);
            enter($gate);
            file_put_contents("$gate.sections", (int) file_get_contents("$gate.sections") + 1);
            pause(0.0005);
            leave($gate);
            try {
                $lease->release() || throw new RuntimeException('the lock was lost');
            } catch (Dlock\QuorumException) {
                // A server of its majority has just stopped, so the outcome is unknown.
            }
        }
        return $longest;
    });
    at_end($child->kill(...));
}
$sections = fn () => (int) @file_get_contents("$gate.sections");
$progress = function (int $count, string $when) use ($sections, $children) {
    $from = $sections();
    try {
        wait_for(fn () => $sections() >= $from + $count, 60, 'sections');
    } catch (RuntimeException) {
        echo "$when: ", $sections() - $from, " sections in 60 s\n";
        foreach ($children as $i => $child) {
            $status = 0;
            if (pcntl_waitpid($child->pid, $status, WNOHANG) !== 0) {
                $child->result(1); // throws the child's exception
            }
        }
    }
};
$progress(50, 'with all servers');
$locks->servers[1]->kill();
$progress(50, 'with one killed');
$locks->servers[3]->pause();
$progress(50, 'with one killed and one stopped');
$locks->servers[3]->resume();
$progress(50, 'with one killed');
touch("$gate.end");
foreach ($children as $i => $child) {
    within(0, $child->result(90), 50, "longest wait of process $i");
}
$living = new Locks('RedLock', array_values(array_diff_key($locks->addresses, [1 => 0])));
$living->waitUntilQueuesGone($resource);
echo "done\n";
?>
--EXPECT--
done
