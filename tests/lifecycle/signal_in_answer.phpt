--TEST--
A signal comes while the server answers, and its handler throws: the caller has no lock, so no client holds it
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork', 'pcntl_async_signals', 'posix_kill');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

final class Stop extends Exception
{
}

pcntl_async_signals(true);
pcntl_signal(SIGUSR1, fn () => throw new Stop());
pcntl_signal(SIGUSR2, fn () => posix_kill(getmypid(), SIGUSR1)); // a signal that is followed by another

$servers = [redis_private(), redis_private(), redis_private()];
$dsns = array_map(fn (PrivateRedis $server) => $server->dsn(), $servers);
$patient = '?read_timeout=20';
$managers = ['DistributedLock' => new DistributedLock($dsns[0] . $patient),
    'RedLock' => new RedLock(array_map(fn (string $dsn) => $dsn . $patient, $dsns), prefix: 'Lock:', ttl: 60.0)];

/** Calls $do while the servers stand still; they continue after the signal. */
function interrupted(array $servers, int $signal, callable $do): ?Throwable
{
    $parent = getmypid();
    array_map(fn (PrivateRedis $server) => $server->pause(), $servers);
    $child = fork_child(function () use ($servers, $signal, $parent) {
        pause(0.1);
        wait_for(fn () => preg_match('/^State:\s+S/m', file_get_contents("/proc/$parent/status")), 60, 'the wait for the answer');
        posix_kill($parent, $signal);
        wait_for(fn () => !preg_match('/^S[ih][gd]Pnd:\s+0*[1-9a-f]/m', file_get_contents("/proc/$parent/status")), 60, 'the signal');
        pause(0.1);
        array_map(fn (PrivateRedis $server) => $server->resume(), $servers);
    });
    try {
        return thrown_by($do);
    } finally {
        $child->result(90);
    }
}

foreach ($managers as $name => $locks) {
    $resource = unique($name);
    $calls = [
        'tryAcquire' => fn () => $locks->tryAcquire($resource),
        'acquire' => fn () => $locks->acquire($resource, 10),
        'synchronized' => fn () => $locks->synchronized($resource, fn () => print("the section runs\n"), 10),
        'lock' => fn () => $name === 'RedLock' ? $locks->lock($resource, 60_000) : $locks->lock($resource, 10),
        'attach' => fn () => $locks->attach($handle),
    ];
    foreach ($calls as $call => $do) {
        foreach (['one signal' => SIGUSR1, 'two' => SIGUSR2] as $signals => $signal) {
            $handle = $call === 'attach' ? $locks->acquire($resource)->detach() : '';
            $do = $call === 'attach' ? fn () => $locks->attach($handle) : $do;
            $e = interrupted($servers, $signal, $do);
            holds($e instanceof Stop, "$name: $call(), $signals", $e);
            unset($e);
            // The same process acquires it: a renewed lease would cause a DeadlockException.
            same(true, wait_for(fn () => $locks->tryAcquire($resource)?->release(), 60, "the lock, after $name::$call()"), "$name: $call(), $signals: free");
        }
    }
}
echo "done\n";
?>
--EXPECT--
done
