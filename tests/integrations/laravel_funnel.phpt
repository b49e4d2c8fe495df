--TEST--
Laravel's funnel works on Dlock\Semaphore: a limit, the next callback when one ends, a time limit, releaseAfter()
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
skip_unless_integration('laravel/Funnel.php', 'php-illuminate-cache', '/usr/share/php/Illuminate/Cache/autoload.php');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/integrations.inc';
load_integrations();

use Dlock\Laravel\Funnel;
use Illuminate\Contracts\Redis\LimiterTimeoutException;

$name = unique('funnel');
$funnel = fn () => (new Funnel($name, redis_server()))->limit(2);
$free = fn () => (new Dlock\Semaphore(2, redis_server(), 'Funnel:'))->availablePermits($name);

// Two callbacks run at once, and no third one.
same(['result', 2], [$funnel()->then(fn () => 'result'), $free()], 'then()');
$inside = $funnel()->then(fn () => $funnel()->then(fn () => [
    $free(),
    $funnel()->block(0)->then(fn () => 'entered', fn (LimiterTimeoutException $e) => 'refused'),
    thrown_by(fn () => $funnel()->block(0.1)->then(fn () => 'entered'))::class, // the process would wait for itself
]));
same([0, 'refused', Dlock\DeadlockException::class], $inside, 'a third one');
same(LimiterTimeoutException::class, $funnel()->releaseAfter(100)->then(fn () => $funnel()->then(
    fn () => thrown_by(fn () => $funnel()->block(0.1)->then(fn () => 'entered'))::class)), 'a time limit');
same(2, $free(), 'afterwards');
$thrown = thrown_by(fn () => $funnel()->then(fn () => throw new RuntimeException('of the callback')));
same(['of the callback', 2], [$thrown?->getMessage(), $free()], 'a callback that throws');
$own = new LimiterTimeoutException('of the callback');
same($own, thrown_by(fn () => $funnel()->then(fn () => throw $own, fn () => print "called\n")), 'the same exception, of the callback');

// The next process enters when a callback ends.
$child = $funnel()->then(fn () => $funnel()->then(function () use ($funnel, $name) {
    $child = fork_child(fn () => $funnel()->block(60)->then(fn () => 'entered'));
    wait_for(fn () => redis_raw()->cmd('ZSCORE', "Funnel:$name", '$queue') !== null, 60, 'a waiter');
    return $child;
}));
same('entered', $child->result(), 'a waiter, after one has left');

// After releaseAfter() other callbacks enter; the end of the late callback frees none of their places.
foreach ([1, new DateInterval('PT1S')] as $second) {
    $result = $funnel()->releaseAfter($second)->then(fn () => $funnel()->releaseAfter(100)->then(
        fn () => $funnel()->releaseAfter(100)->block(60)->then(fn () => $free())));
    same([0, 2], [$result, $free()], 'after releaseAfter()');
}

same([20, 20, 20, 20], fork_run(4, function () use ($funnel, $name) {
    $redis = redis_raw();
    for ($i = 0; $i < 20; $i++) {
        $funnel()->block(60)->then(function () use ($redis, $name) {
            holds($redis->cmd('INCR', "$name-inside") <= 2, 'two at once');
            pause(0.001);
            $redis->cmd('DECR', "$name-inside");
        });
    }
    return $i;
}), 'four processes');

fails(LogicException::class, '*has no limit()*', fn () => (new Funnel($name, redis_server()))->then(fn () => 1), 'no limit()');
echo "done\n";
?>
--EXPECT--
done
