--TEST--
A signal that comes while synchronized() releases reaches its handler, also if the section has thrown
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

/** Classes and messages of an exception and its previous ones. */
function chain(?Throwable $e): array
{
    return $e === null ? [] : [get_class($e) . ': ' . $e->getMessage(), ...chain($e->getPrevious())];
}

$marker = temporary_directory() . '/ended';
/**
 * What the section does at its end and what the handler does. Returns how often the handler ran and what synchronized()
 * threw.
 */
$run = function (PrivateRedis $server, callable $section, callable $handler) use ($marker): array {
    @unlink($marker);
    $child = fork_child(function (callable $say, callable $hear) use ($server, $section, $handler, $marker) {
        $locks = new DistributedLock($server->dsn() . '?read_timeout=20');
        $count = 0;
        pcntl_async_signals(true);
        pcntl_signal(SIGUSR1, function () use (&$count) {
            $count++;
        });
        pcntl_signal(SIGTERM, function () use (&$count, $handler) {
            $count++;
            $handler();
        });
        $e = thrown_by(function () use ($locks, $say, $hear, $section, $marker) {
            $result = $locks->synchronized('x', function () use ($locks, $say, $hear, $section, $marker) {
                $lease = $locks->acquire('of the result', 10);
                $say('in the section');
                $hear();
                touch($marker);
                $section();
                return $lease;
            }, 10, 60);
            same(true, $result->release(), 'the result');
        });
        $chain = chain($e);
        unset($e);
        same(false, $locks->isLocked('of the result'), 'the lease that the section returned: locked');
        return [$count, $chain];
    });
    same('in the section', $child->hear(), 'the section');
    return [$child, function (?callable $meanwhile = null) use ($child, $server, $marker): array {
        $meanwhile === null || $meanwhile();
        $server->pause();
        $child->say('end');
        wait_for(fn () => file_exists($marker), 60, 'the end of the section');
        wait_for(fn () => preg_match('/^State:\s+S/m', file_get_contents("/proc/$child->pid/status")), 60, 'the wait for the answer');
        $child->signal(SIGTERM);
        wait_for(fn () => !preg_match('/^S[ih][gd]Pnd:\s+0*[1-9a-f]/m', file_get_contents("/proc/$child->pid/status")), 60, 'the signal');
        $server->resume();
        return $child->result(30);
    }];
};

$server = redis_private();
$nothing = fn () => null;
$throw = fn () => throw new DomainException('of the section');
$handle = fn () => throw new RangeException('of the handler');
$steal = fn () => $server->raw()->cmd('SET', 'Lock:x', 'somebody-else', 'PX', 60_000);
$lost = 'Dlock\LeaseLostException: The lock "x" was lost before its critical section ended';
foreach ([
    'another signal in the handler' => [$throw, fn () => posix_kill(getmypid(), SIGUSR1), null, ['DomainException: of the section'], 2],
    'nothing thrown' => [$nothing, $nothing, null, []],
    'the section throws' => [$throw, $nothing, null, ['DomainException: of the section']],
    'the handler throws' => [$nothing, $handle, null, ['RangeException: of the handler']],
    'both throw' => [$throw, $handle, null, ['RangeException: of the handler', 'DomainException: of the section']],
    'the lock was lost' => [$nothing, $nothing, $steal, [$lost]],
    'it was lost, and both throw' => [$throw, $handle, $steal, [$lost, 'RangeException: of the handler', 'DomainException: of the section']],
    'the handler looks for a class' => [$throw, fn () => class_exists('NoSuchClass'), null, ['DomainException: of the section']],
    'the handler catches' => [$throw, fn () => thrown_by($handle), null, ['DomainException: of the section']],
] as $name => $case) {
    [$section, $handler, $meanwhile, $thrown] = $case;
    [$child, $end] = $run($server, $section, $handler);
    same([$case[4] ?? 1, $thrown], $end($meanwhile), $name);
    $server->raw()->cmd('DEL', 'Lock:x');
}
echo "done\n";
?>
--EXPECT--
done
