--TEST--
The command dlock: run, wait, its exit statuses, and names that would control a terminal
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork', 'posix_kill', 'posix_mkfifo');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/seen.inc';

$server = '--server=' . redis_server();
$locks = new DistributedLock(redis_server());

// run: the command's output and status, and the lock while it runs.
$resource = unique('run');
$run = dlock([$server, 'run', $resource, '--', 'sh', '-c', 'echo out; exit 7']);
same([7, "out\n", ''], [$run->status, $run->output, $run->errors], 'run');
same(false, $locks->isLocked($resource), 'run releases');
same(128 + SIGKILL, dlock([$server, 'run', $resource, '--', 'sh', '-c', 'kill -9 $$'])->status, 'run of a command that is killed');
$lease = $locks->acquire($resource);
same(1, dlock([$server, 'run', $resource, '--timeout=0', '--', 'true'])->status, 'run, not free in time');
same(1, dlock([$server, 'wait', $resource, '--timeout=0.1'])->status, 'wait, not in time');
$lease->release();
same(0, dlock([$server, 'wait', $resource])->status, 'wait');

// The loss of the lock ends the command.
$child = fork_child(fn () => dlock([$server, 'run', $resource, '--ttl=6', '--', 'sh', '-c', 'trap "echo told; kill \$!; exit 1" TERM; tail -f /dev/null & wait']));
$seen = wait_for_parties($locks, $resource, 1, 0);
same("run sh", wait_for(fn () => $locks->inspect($resource)->holders[0]->label ?? 'run sh', SOON), 'the label of run');
redis_raw()->cmd('DEL', "Lock:$resource");
$run = $child->result();
same([3, "told\n"], [$run->status, $run->output], 'a command whose lock is lost');

// Also a loss that dlock can see only after the command's end, because it was stopped until then.
$gate = temporary_directory() . '/gate';
posix_mkfifo($gate, 0600);
$door = fopen($gate, 'r+');
$begin = function (string $server) use ($gate): array {
    $run = start_dlock([$server, 'run', unique('late'), '--', 'sh', '-c', "read word < $gate; exit 7"], "$gate.log");
    $pid = proc_get_status($run)['pid'];
    $child = fn () => (int) @file_get_contents("/proc/$pid/task/$pid/children");
    return [$run, $pid, wait_for($child, 60, 'the command')];
};
$status_of = function ($run): int {
    wait_for(function () use ($run, &$status) {
        $status = proc_get_status($run);
        return !$status['running'];
    }, 60, 'the end of dlock');
    return $status['exitcode'];
};
[$run, $pid, $command] = $begin($server);
posix_kill($pid, SIGSTOP);
wait_until_stopped($pid);
redis_raw()->cmd('DEL', 'Lock:' . unique('late'));
fwrite($door, "go\n");
wait_until_stopped($command);
let_go_on($pid, 'dlock');
same(3, $status_of($run), 'a lock that was lost before the command ended');
holds(str_contains($log = (string) file_get_contents("$gate.log"), 'was lost'), 'its message', $log);

// A server that is gone at the end: the lock was held until then, so the status is the command's.
$private = redis_private();
[$run] = $begin('--server=' . $private->dsn());
$private->kill();
fwrite($door, "go\n");
same(7, $status_of($run), 'a command whose lock could not be released');
holds(str_contains($log = (string) file_get_contents("$gate.log"), 'until its lease expires'), 'its message', $log);

// Exit statuses.
foreach ([[[], 2], [['fly'], 2], [['show'], 2], [['show', 'a', 'b'], 2], [['--fast', 'ls'], 2], [['--server=gopher://x', 'ls'], 2],
        [['--server=redis://127.0.0.1:1', 'ls'], 4], [['--help'], 0], [['--version'], 0], [[$server, 'ls'], 0]] as [$arguments, $status]) {
    same($status, dlock($arguments)->status, 'status of dlock ' . implode(' ', $arguments));
}
$run = dlock(['--server=redis://user:s3cret@127.0.0.1:1', 'ls']);
hides(['s3cret'], $run->output . $run->errors, 'a server that cannot be reached');

// The command escapes names and labels for a terminal, but not for programs.
$nasty = unique("\e[2J\x07\u{202e}");
$lease = $locks->acquire($nasty);
$run = dlock([$server, 'show', $nasty]);
holds(!preg_match('/[\x00-\x09\x0b-\x1f\x7f\x80-\xff]/', $run->output), 'no control characters', $run->output);
holds(str_contains($run->output, '\x1b[2J\x07'), 'escaped', $run->output);
same(0, dlock([$server, 'show', $nasty, '--json'])->status, 'as JSON');
$redis = redis_raw();
$redis->cmd('ZADD', "dlock:queue:{Lock:$nasty}", 1, str_repeat('a', 44));
$redis->cmd('HSET', "dlock:waiters:{Lock:$nasty}", str_repeat('a', 44), (int) (unix_time() * 1e6) . " 0 1 box ho\est \e]0;x\x07\x9blabel");
$run = dlock([$server, 'show', $nasty]);
holds(!preg_match('/[\x00-\x09\x0b-\x1f\x7f\x80-\xff]/', $run->output) && str_contains($run->output, '\x1b]0;x\x07\x9blabel'), "a waiter's label", $run->output);
$redis->cmd('DEL', "dlock:queue:{Lock:$nasty}", "dlock:waiters:{Lock:$nasty}");
$lease->release();
?>
Done.
--EXPECT--
Done.
