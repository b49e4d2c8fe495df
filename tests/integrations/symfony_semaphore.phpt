--TEST--
Symfony Semaphore works on Dlock\Semaphore: limits and weights, refresh, expiry, release, Keys in other processes, servers out of reach
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
skip_unless_integration('symfony/SemaphoreStore.php', 'php-symfony-semaphore', '/usr/share/php/Symfony/Component/Semaphore/autoload.php');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/integrations.inc';
load_integrations();

use Dlock\Symfony\SemaphoreStore;
use Symfony\Component\Semaphore\Exception\InvalidArgumentException;
use Symfony\Component\Semaphore\Exception\RuntimeException;
use Symfony\Component\Semaphore\Exception\SemaphoreAcquiringException;
use Symfony\Component\Semaphore\Exception\SemaphoreExpiredException;
use Symfony\Component\Semaphore\Exception\SemaphoreReleasingException;
use Symfony\Component\Semaphore\Key;
use Symfony\Component\Semaphore\PersistingStoreInterface;
use Symfony\Component\Semaphore\SemaphoreFactory;

$store = new SemaphoreStore(redis_server());
holds($store instanceof PersistingStoreInterface, "the component's interface");
$factory = new SemaphoreFactory($store);
$resource = unique('semaphore');
$free = fn () => (new Dlock\Semaphore(3, redis_server()))->availablePermits($resource);

// Limits and weights.
[$one, $two, $more] = [$factory->createSemaphore($resource, 3), $factory->createSemaphore($resource, 3, 2), $factory->createSemaphore($resource, 3)];
same([false, true, true, false], [$one->isAcquired(), $one->acquire(), $two->acquire(), $more->acquire()], 'acquire() of 1, 2 and 1 of 3');
same([true, true, false, 0], [$one->isAcquired(), $two->isAcquired(), $more->isAcquired(), $free()], 'isAcquired()');
same([true, 0], [$one->acquire(), $free()], 'acquire() of what has its permits');
$two->release();
same([true, 1, false], [$more->acquire(), $free(), $two->acquire()], 'after the release of 2');
$more->release();
$more->release(); // a second release does no harm
same(2, $free(), 'after two releases of the same');
same([true, 0], [$two->acquire(), $free()], 'acquire() of 2 again');
$two->release();
same([2, false], [$free(), $factory->createSemaphore($resource, 1)->acquire()], 'another limit, which is reached');

// Lifetimes.
within(200, $one->getRemainingLifetime(), 300, 'getRemainingLifetime()');
$one->refresh(1000);
within(500, $one->getRemainingLifetime(), 1000, 'getRemainingLifetime() after refresh()');
$one->release();
fails(SemaphoreExpiredException::class, '*', fn () => $one->refresh(), 'refresh() after the release');
$short = $factory->createSemaphore($resource, 3, 3, 1.0);
same([true, 0], [$short->acquire(), $free()], 'acquire() for 1 s');
wait_for(fn () => $one->acquire(), 60, 'the end of the lease');
same([true, false], [$short->isExpired(), $short->isAcquired()], 'after the lease');
fails(SemaphoreExpiredException::class, '*', fn () => $short->refresh(), 'refresh() after the lease');
$short->release();
same(2, $free(), "release() after the lease leaves another's permits alone");
$one->release();
foreach ([0.0, -1.0, 0.001] as $ttl) {
    fails(InvalidArgumentException::class, '*at least 0.003*', fn () => $store->save(new Key($resource, 3), $ttl), "save() for $ttl s");
    fails(InvalidArgumentException::class, '*at least 0.003*', fn () => $store->putOffExpiration(new Key($resource, 3), $ttl), "putOffExpiration() by $ttl s");
}
fails(SemaphoreExpiredException::class, '*', fn () => $store->putOffExpiration(new Key($resource, 3), 10.0), 'putOffExpiration() of a Key without permits');

// The permits end with their object, unless autoRelease is off.
$one = $factory->createSemaphore($resource, 3);
$one->acquire();
unset($one);
same(3, $free(), 'after the end of an object');
$left = fork_child(function () use ($resource) {
    $key = new Key($resource, 3, 2);
    return (new SemaphoreFactory(new SemaphoreStore(redis_server())))->createSemaphoreFromKey($key, 100, false)->acquire() ? serialize($key) : '';
})->result();
same(1, $free(), 'after the end of a process that left its Key');
$copies = [unserialize($left), unserialize($left)];
same([true, false], [$store->exists($copies[0]), $store->exists($copies[1])], 'exists() with copies of a Key');
$store->delete($copies[1]);
same(1, $free(), 'delete() with a later copy');
$store->delete($copies[0]);
same(3, $free(), 'delete() with the first one');

// Four processes compete for two places.
$gate = unique('places');
same([0, 0, 0, 0], fork_run(4, function () use ($resource, $gate) {
    $most = 0;
    $factory = new SemaphoreFactory(new SemaphoreStore(redis_server()));
    $redis = redis_raw();
    for ($i = 0; $i < 20;) {
        $semaphore = $factory->createSemaphore("$resource-places", 2, 1, 100);
        if (!$semaphore->acquire()) {
            pause(0.001);
            continue;
        }
        $i++;
        $most = max($most, $redis->cmd('INCR', $gate) - 2);
        pause(0.001);
        $redis->cmd('DECR', $gate);
        $semaphore->release();
    }
    return $most;
}), 'more than two in two places');

// ---- errors ----
$server = redis_private();
$factory = new SemaphoreFactory($far = new SemaphoreStore($server->dsn()));
$held = $factory->createSemaphore('x', 1);
$held->acquire();
$server->kill();
fails(RuntimeException::class, '*', fn () => $factory->createSemaphore('y', 1)->acquire(), 'acquire() without a server');
fails(RuntimeException::class, '*', fn () => $held->refresh(), 'refresh() without a server');
fails(RuntimeException::class, '*', fn () => $held->isAcquired(), 'isAcquired() without a server');
fails(SemaphoreReleasingException::class, '*', fn () => $held->release(), 'release() without a server');
$server->restart();
same([false, true], [$held->isAcquired(), $factory->createSemaphore('x', 1)->acquire()], 'with a server that has forgotten all');
$key = new Key('x', 1);
$far->save($key, 10.0);
fails(SemaphoreAcquiringException::class, '*too few permits are free.', fn () => $far->save(new Key('x', 1), 10.0), 'save() of what is taken');
echo "done\n";
?>
--EXPECT--
done
