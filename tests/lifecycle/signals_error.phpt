--TEST--
A signal that comes while a server is asked reaches its handler also where the call ends with an exception
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

// A server that takes questions, and never answers.
$listener = stream_socket_server('tcp://127.0.0.1:0');
$dsn = 'redis://' . stream_socket_get_name($listener, false) . '?read_timeout=1';
$asks = [
    'DistributedLock' => fn () => (new DistributedLock($dsn))->tryAcquire('x'),
    'RedLock' => fn () => (new RedLock([$dsn]))->tryAcquire('x'),
    'isLocked()' => fn () => (new DistributedLock($dsn))->isLocked('x'),
];
foreach ($asks as $name => $ask) {
    foreach ([false, true] as $throws) {
        $child = fork_child(function (callable $say) use ($ask, $throws) {
            pcntl_async_signals(true);
            $count = 0;
            pcntl_signal(SIGTERM, function () use (&$count, $throws) {
                $count++;
                $throws && throw new DomainException('of the handler');
            });
            try {
                $ask();
            } catch (Throwable $e) {
                return [$count, get_class($e)];
            }
        });
        $connection = stream_socket_accept($listener, 30);
        fread($connection, 1); // it has been asked
        $child->signal(SIGTERM);
        same([1, $throws ? DomainException::class : ($name === 'RedLock' ? Dlock\QuorumException::class : Dlock\ConnectionException::class)],
            $child->result(), $name);
        fclose($connection);
    }
}
echo "done\n";
?>
--EXPECT--
done
