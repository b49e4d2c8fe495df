--TEST--
ReadWriteLock on ZooKeeper works beside kazoo's ReadLock and WriteLock on the same path
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
require __DIR__ . '/../inc/zk_read_write.inc';

// Up to kazoo 2.8 kazoo's readers also wait for writers that came after them
// (https://github.com/python-zk/kazoo/issues/649): here none comes after one.
$resource = unique();
$directory = temporary_directory();
zk_raw()->createPath("/locks/$resource"); // kazoo does not create it again if it disappears
file_put_contents("$directory/contender.py", '
import sys
from kazoo.client import KazooClient
hosts, path = sys.argv[1:]
client = KazooClient(hosts=hosts)
client.start(timeout=60)
locks = {
    "read": client.ReadLock(path, extra_lock_patterns=["__WRIT__"]),
    "write": client.WriteLock(path, extra_lock_patterns=["__WRIT__", "__READ__"]),
}
held = None
print("ready", flush=True)
for line in sys.stdin:
    words = line.split()
    if words[0] == "try":
        got = locks[words[1]].acquire(blocking=False)
        held = words[1] if got else None
        print("true" if got else "false", flush=True)
    elif words[0] == "acquire":
        locks[words[1]].acquire(timeout=60)
        held = words[1]
        print("acquired", flush=True)
    else:
        locks[held].release()
        print("released", flush=True)
client.stop()
');
$process = proc_open(['setpriv', '--pdeathsig', 'KILL', '/usr/bin/python3', "$directory/contender.py", zk_hosts(), "/locks/$resource"],
    [['pipe', 'r'], ['pipe', 'w'], ['file', "$directory/err", 'w']], $pipes);
$hear = fn (string $expected, string $what) => same("$expected\n", read_bytes($pipes[1], strlen($expected) + 1, 60), "kazoo: $what");
$hear('ready', 'start');
read_write_beside($resource, fn (string $line) => fwrite($pipes[0], "$line\n"), $hear);
fclose($pipes[0]);
same([0, ''], [proc_close($process), file_get_contents("$directory/err")], 'the end');
echo "done\n";
?>
--EXPECT--
done
