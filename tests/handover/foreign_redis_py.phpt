--TEST--
python3-redis' Lock and DistributedLock exclude each other, and both get their turns
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');

exec('/usr/bin/python3 -c "import redis" 2>/dev/null', $output, $code);
$code === 0 || die('skip needs the Debian package python3-redis');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/handover.inc';

[$locks] = shared_locks();
$resource = unique();
$gate = gate();
file_put_contents("$gate.py", <<<'PYTHON'
import os, redis, sys, threading
pause = threading.Event().wait
host, port = sys.argv[1].split(':')
client = redis.Redis(host=host, port=int(port))
for i in range(10):
    lock = client.lock(sys.argv[2], 30, 0.01)
    if not lock.acquire(blocking_timeout=60):
        sys.exit('not acquired')
    os.close(os.open(sys.argv[3], os.O_CREAT | os.O_EXCL))
    if i == 0:
        print('held', flush=True)
        sys.stdin.readline()
    pause(0.001)
    os.unlink(sys.argv[3])
    lock.release()
    pause(0.005)
print('done', flush=True)
PYTHON);
$python = proc_open(['setpriv', '--pdeathsig', 'KILL', '/usr/bin/python3', "$gate.py", $locks->addresses[0], Locks::key($resource), $gate],
    [['pipe', 'r'], ['pipe', 'w'], ['redirect', 1]], $pipes);
same("held\n", fgets($pipes[1]), 'python');
same(null, $locks->manager()->tryAcquire($resource), 'while python holds');
$keeper = keep_alive($locks->addresses, Locks::key($resource));
$line = $locks->line(2, $resource, $gate);
fwrite($pipes[0], "go on\n");
$start = now();
foreach ($line as $i => $waiter) {
    [$at] = $waiter->hear();
    within(0, $at - $start, SOON, "seconds until waiter $i holds");
    $waiter->say('release');
    same(true, $waiter->result(), "release() of waiter $i");
}
$keeper->kill();
$manager = $locks->manager();
for ($i = 0; $i < 10; $i++) {
    $manager->synchronized($resource, function () use ($gate) {
        enter($gate);
        pause(0.001);
        leave($gate);
    }, 60);
}
same("done\n", read_to_end($pipes[1], 60), 'python');
same(0, proc_close($python), 'its exit code');
$locks->waitUntilQueuesGone($resource);
echo "done\n";
?>
--EXPECT--
done
