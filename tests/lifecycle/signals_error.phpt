--TEST--
A signal that comes while a server is asked reaches its handler also if the call ends with an exception
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

// A server that accepts requests, and never answers.
$listener = stream_socket_server('tcp://127.0.0.1:0');
$dsn = 'redis://' . stream_socket_get_name($listener, false) . '?read_timeout=1';
$asks = [
    'DistributedLock' => fn () => (new DistributedLock($dsn))->tryAcquire('x'),
    'RedLock' => fn () => (new RedLock([$dsn]))->tryAcquire('x'),
    'isLocked()' => fn () => (new DistributedLock($dsn))->isLocked('x'),
];
foreach ($asks as $name => $ask) {
    foreach ([false, true] as $throws) {
        for ($attempt = 1; ; $attempt++) {
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
            $connection = stream_socket_accept($listener, 60);
            fread($connection, 1); // the server has received a request
            $child->signal(SIGTERM);
            $result = $child->result();
            fclose($connection);
            if ($result[0] > 0 || $attempt === 10) {
                break;
            } // the machine stood still, and the signal came after the end of the call
        }
        same([1, $throws ? DomainException::class : ($name === 'RedLock' ? Dlock\QuorumException::class : Dlock\ConnectionException::class)], $result, $name);
    }
}

// The handler drops the last reference to the servers whose errors the exception reports.
$server = redis_private();
$marker = temporary_directory() . '/asks';
$child = fork_child(function (callable $say, callable $hear) use ($server, $marker) {
    $lease = (new RedLock([$server->dsn() . '?read_timeout=3']))->acquire('x', 0, 100);
    pcntl_async_signals(true);
    pcntl_signal(SIGTERM, function () use ($lease, &$handle) {
        $handle = $lease->detach();
    });
    $say('held');
    $hear();
    touch($marker);
    $e = thrown_by(fn () => $lease->refresh());
    return [is_string($handle), get_debug_type($e), array_map(gettype(...), $e->getServerErrors())];
});
same('held', $child->hear(), 'the lease');
$server->pause();
$child->say('refresh');
wait_for(fn () => file_exists($marker), 60, 'refresh()');
wait_for(fn () => preg_match('/^State:\s+S/m', file_get_contents("/proc/$child->pid/status")), 60, 'the wait for the answer');
$child->signal(SIGTERM);
same([true, Dlock\QuorumException::class, [$server->address() => 'string']], $child->result(), 'a handler that detaches the lease');
$server->resume();

// A handler that throws an exception of the same class as the call would: that one is thrown, as it is.
$throws = [
    Dlock\LimitExceededException::class => [fn (Dlock\Stock $stock) => $stock->reserve(['shoe' => 3], 'ann', '2'), 3],
    Dlock\ReservationExpiredException::class => [fn (Dlock\Stock $stock) => $stock->reservation('shoe', 'ann', 'none')->confirm(), 'unknown'],
];
foreach ($throws as $class => [$call, $detail]) {
    @unlink($marker);
    $child = fork_child(function (callable $say, callable $hear) use ($server, $marker, $call) {
        $stock = new Dlock\Stock($server->dsn() . '?read_timeout=30', perBuyer: 2);
        $stock->restock('shoe', 5);
        $earlier = thrown_by(fn () => $call($stock));
        pcntl_async_signals(true);
        pcntl_signal(SIGTERM, fn () => throw $earlier);
        $say('refused');
        $hear();
        touch($marker);
        $e = thrown_by(fn () => $call($stock));
        return [get_debug_type($e), $e === $earlier, $e->asked ?? $e->reason ?? $e->getMessage()];
    });
    same('refused', $child->hear(), 'the first call');
    $server->pause();
    $child->say('again');
    wait_for(fn () => file_exists($marker), 60, 'the second call');
    wait_for(fn () => preg_match('/^State:\s+S/m', file_get_contents("/proc/$child->pid/status")), 60, 'the wait for the answer');
    $child->signal(SIGTERM);
    $server->resume();
    same([$class, true, $detail], $child->result(), "a handler that throws a $class");
}
echo "done\n";
?>
--EXPECT--
done
