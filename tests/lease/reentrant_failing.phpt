--TEST--
reentrant: true: an acquisition that fails leaves the outer lease as it was; one that finds the outer lease lost tells its loss; where all other leases are released meanwhile, it releases the lock; detach() ends the renewal
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork', 'pcntl_async_signals');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/descriptors.inc';

final class Stop extends Exception
{
}

// ---- a signal handler releases the outer lease while the inner one asks for more time, and throws ----
$server = redis_private();
$marker = temporary_directory() . '/asks';
foreach ([true, false] as $releases) {
    $child = fork_child(function (callable $say, callable $hear) use ($server, $marker, $releases) {
        $locks = new DistributedLock($server->dsn() . '?read_timeout=30', reentrant: true);
        $outer = $locks->acquire('x', 0, 100);
        pcntl_async_signals(true);
        pcntl_signal(SIGTERM, function () use ($outer, $releases) {
            $releases && $outer->release();
            throw new Stop();
        });
        $say('held');
        $hear();
        touch($marker);
        $e = thrown_by(fn () => $locks->acquire('x', 0, 200));
        return [get_debug_type($e), $outer->state()->name, $locks->isLocked('x')];
    });
    same('held', $child->hear(), 'the outer lease');
    $server->pause();
    $child->say('enter');
    wait_for(fn () => file_exists($marker), 60, 'the second acquire()');
    wait_for(fn () => preg_match('/^State:\s+S/m', file_get_contents("/proc/$child->pid/status")), 60, 'the wait for the answer');
    $child->signal(SIGTERM);
    $server->resume();
    same([Stop::class, $releases ? 'Released' : 'Held', !$releases], $child->result(), $releases ? 'released' : 'not released');
    unlink($marker);
}

// ---- no descriptor is left for the report of a loss ----
same(null, fork_child(function () {
    $lease = (new DistributedLock('memory://', ttl: 6, reentrant: true))->acquire('x');
    limit_descriptors(40);
    $throwing = new DistributedLock('memory://', ttl: 6, reentrant: true, onLoss: 'throw');
    with_descriptors(0, fn () => fails(Dlock\DlockException::class, 'Cannot report a loss, because no descriptor is left: *', fn () => $throwing->acquire('x')));
    $before = Dlock\stats()['renewals'];
    wait_for(fn () => Dlock\stats()['renewals'] > $before || !$lease->isHeld(), 60, 'a renewal');
    same([true, true], [$lease->isHeld(), $lease->release()], 'the outer lease');
})->result(), 'without descriptors');

// ---- detach() beside a lease that was released, and whose object is still there ----
$locks = new DistributedLock('memory://', ttl: 1, reentrant: true);
$handle = patiently(function () use ($locks, &$outer, &$inner) {
    [$outer, $inner] = [$locks->acquire('x'), $locks->acquire('x')];
    $inner->release();
    return $outer->detach();
}, Dlock\LeaseLostException::class);
wait_for(fn () => !$locks->isLocked('x'), 60, 'the end of a detached lease');
fails(Dlock\LeaseLostException::class, '*', fn () => $locks->attach($handle), 'its end');

// ---- an acquisition that asks for more time finds the outer lease lost ----
foreach (['flag', 'throw'] as $told) {
    $locks = new DistributedLock($server->dsn(), ttl: 60, reentrant: true, onLoss: $told);
    $outer = $locks->acquire($told, 0);
    $server->raw()->cmd('DEL', "Lock:$told");
    $inner = null;
    $e = thrown_by(function () use ($locks, $told, &$inner) {
        $inner = $locks->acquire($told, 0, 300);
    });
    same($told === 'throw' ? [Dlock\LeaseLostException::class, null, false] : [get_debug_type(null), Dlock\LeaseState::Held, true],
        [get_debug_type($e), $inner?->state(), $locks->isLocked($told)], "$told: the inner lease");
    same([Dlock\LeaseState::Lost, false], [$outer->state(), $outer->release()], "$told: the outer lease");
}
echo "done\n";
?>
--EXPECT--
done
