--TEST--
ZkLock competes with kazoo (python3-kazoo) over the same path: one holder at a time, in turn, and all get their turns
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
skip_unless_functions('pcntl_fork', 'posix_kill');
exec('/usr/bin/python3 -c "import kazoo" 2>&1', $output, $code);
$code === 0 || die('skip no python3-kazoo');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';

$zk = zk_raw();
$resource = unique();
$sections = 25;
$directory = temporary_directory();
$log = "$directory/log";
touch($log);
$zk->createPath("/locks/$resource"); // kazoo does not create it again if it disappears
file_put_contents("$directory/contender.py", '
import os, sys, threading
from kazoo.client import KazooClient
hosts, path, log, name, sections = sys.argv[1:]
client = KazooClient(hosts=hosts)
client.start(timeout=60)
lock = client.Lock(path, name, extra_lock_patterns=["-lock-"])
def say(text):
    fd = os.open(log, os.O_WRONLY | os.O_APPEND)
    os.write(fd, (text + "\n").encode())
    os.close(fd)
print("ready", flush=True)
sys.stdin.readline()
for i in range(int(sections)):
    if not lock.acquire(timeout=60):
        sys.exit("not acquired")
    say("in " + name)
    threading.Event().wait(0.002)
    say("out " + name)
    lock.release()
print("finished", flush=True)
client.stop()
');
$pythons = [];
foreach (['kazoo-1', 'kazoo-2'] as $name) {
    $process = proc_open(
        ['setpriv', '--pdeathsig', 'KILL', '/usr/bin/python3', "$directory/contender.py", zk_hosts(), "/locks/$resource", $log, $name, (string) $sections],
        [['pipe', 'r'], ['pipe', 'w'], ['file', "$directory/$name.err", 'w']], $pipes);
    $pythons[$name] = [$process, $pipes];
}
foreach ($pythons as $name => [, $pipes]) {
    same('ready', read_bytes($pipes[1], 5, 60), $name);
}
$ours = [];
foreach (['ours-1', 'ours-2'] as $name) {
    $ours[$name] = fork_child(function (callable $say, callable $hear) use ($name, $resource, $log, $sections) {
        $lock = new ZkLock(zk_hosts());
        $lock->isLocked($resource);
        $say('ready');
        $hear();
        for ($i = 0; $i < $sections; $i++) {
            $lock->lock($resource, 60) || throw new RuntimeException('not locked');
            file_put_contents($log, "in $name\n", FILE_APPEND);
            pause(0.002);
            file_put_contents($log, "out $name\n", FILE_APPEND);
            $lock->release($resource) || throw new RuntimeException('lost');
        }
        return $i;
    });
    same('ready', $ours[$name]->hear(), $name);
}
foreach ($pythons as [, $pipes]) {
    fwrite($pipes[0], "go\n");
}
foreach ($ours as $child) {
    $child->say('go');
}
foreach ($ours as $name => $child) {
    same($sections, $child->result(), $name);
}
foreach ($pythons as $name => [$process, $pipes]) {
    holds(str_contains(read_to_end($pipes[1], 60), 'finished'), "$name finishes", file_get_contents("$directory/$name.err"));
    proc_close($process);
}

$lines = file($log, FILE_IGNORE_NEW_LINES);
same(2 * 4 * $sections, count($lines), 'lines');
$first = [];
for ($i = 0; $i + 1 < count($lines); $i += 2) {
    same(str_replace('in ', 'out ', $lines[$i]), $lines[$i + 1], "section $i");
    if ($i < count($lines) / 2) {
        $first[$lines[$i]] = ($first[$lines[$i]] ?? 0) + 1;
    }
}
// Because they are served in turn, all are about equally far when half of the work is done.
same(4, count($first), 'who had the lock in the first half');
within(3, min($first), $sections, 'sections of the slowest in the first half');
same([], zk_nodes($zk, $resource), 'nodes at the end');
echo "done\n";
?>
--EXPECT--
done
