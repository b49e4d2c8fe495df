--TEST--
onLoss: "throw": a forked child is told of its own losses, not of its parent's leases
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork', 'pcntl_alarm', 'posix_kill');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/lease.inc';

$messages = function (?Throwable $e): array {
    for ($messages = []; $e; $e = $e->getPrevious()) {
        $messages[] = $e->getMessage();
    }
    return $messages;
};
foreach (renewed_locks_and_pools() as $name => $locks) {
    // A child loses a lease of its own.
    $manager = $locks->manager(onLoss: 'throw');
    $inherited = [$manager->acquire(unique("$name-a"), 0, 100), $manager->acquire(unique("$name-b"), 0, 100)];
    $child = fork_child(function () use ($manager, $name, $messages) {
        $lease = patiently(fn () => $manager->acquire(unique("$name-own"), 60, 2));
        return $messages(thrown_by(fn () => busy(20)));
    });
    same(['The lock "' . unique("$name-own") . '" was lost while it was held'], $child->result(), "$name: what a child is thrown");
    same([true, true], array_map(fn ($lease) => $lease->release(), $inherited), "$name: release() of the parent");

    // A child is forked when the parent's loss is known, but not thrown yet: handlers of signals come first.
    $child = null;
    pcntl_async_signals(true);
    pcntl_signal(SIGALRM, function () use (&$child) {
        $child = pcntl_fork();
    });
    for ($attempt = 0; $child === null && $attempt < 20; $attempt++) { // a machine that stands still may know before the call
        $lease = patiently(fn () => $manager->acquire(unique("$name-c"), 60, 2));
        $e = thrown_by(function () {
            pcntl_alarm(4);
            wait_for_signal();
        });
    }
    if ($child === 0) {
        posix_kill(getmypid(), $e ? SIGUSR1 : SIGUSR2);
    }
    pcntl_waitpid($child, $status);
    same(SIGUSR2, pcntl_wtermsig($status), "$name: what a child is told of its parent's loss");
    same(['The lock "' . unique("$name-c") . '" was lost while it was held'], $messages($e), "$name: what the parent is thrown");

    // A child continues in the background after its parent has ended: it is told then, not before.
    [$reading, $writing] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $parent = pcntl_fork();
    if ($parent === 0) {
        $lease = $locks->manager(onLoss: 'throw')->acquire(unique("$name-d"), 20);
        $own = getmypid();
        if (pcntl_fork() > 0) {
            fgets($writing); // the child has worked for a while
            exit(0);
        }
        $early = thrown_by(fn () => busy(1));
        fwrite($writing, 'x');
        fwrite($reading, "go\n");
        $late = thrown_by(fn () => busy(60));
        fwrite($writing, json_encode([$messages($early), $messages($late), $messages(thrown_by(fn () => busy(1)))]) . "\n");
        posix_kill(getmypid(), SIGKILL);
    }
    pcntl_waitpid($parent, $status);
    stream_set_timeout($reading, 60);
    same([[], ['The lock "' . unique("$name-d") . '" was lost, since the process that held it has ended'], []], json_decode(ltrim((string) fgets($reading), 'x')),
        "$name: what a child is thrown whose parent ends");
}
echo "done\n";
?>
--EXPECT--
done
