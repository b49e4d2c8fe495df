--TEST--
Semaphore, ReadWriteLock: wrong arguments are refused with their names, and so are servers that do not support permits; passwords are not shown
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/permits.inc';

use Dlock\ReadWriteLock;
use Dlock\Semaphore;

const NEW_SEMAPHORE = 'Dlock\Semaphore::__construct(): Argument ';
const NEW_LOCK = 'Dlock\ReadWriteLock::__construct(): Argument ';

// ---- constructors ----
foreach ([0, -1, PHP_INT_MIN, ALL_PERMITS, PHP_INT_MAX] as $capacity) {
    fails(ValueError::class, NEW_SEMAPHORE . '#1 ($capacity) must be between 1 and 999999999', fn () => new Semaphore($capacity, redis_server()));
}
same(999_999_999, (new Semaphore(999_999_999, redis_server()))->availablePermits(unique('large')), 'the greatest capacity');
fails(TypeError::class, NEW_SEMAPHORE . '#1 ($capacity) must be of type int, string given', fn () => new Semaphore('3'));
fails(ArgumentCountError::class, 'Dlock\Semaphore::__construct() expects at least 1 argument, 0 given', fn () => new Semaphore());
fails(ValueError::class, NEW_LOCK . '#8 ($fairness) must be either "phase" or "fifo"', fn () => new ReadWriteLock(redis_server(), fairness: 'fair'));

/** Both classes with these options; the argument's number is one higher for a class with a capacity. */
$both = function (string $argument, string $message, array $options, int $number): void {
    fails(ValueError::class, NEW_LOCK . "#$number (\$$argument) $message", fn () => new ReadWriteLock(...$options));
    fails(ValueError::class, NEW_SEMAPHORE . '#' . $number + 1 . " (\$$argument) $message", fn () => new Semaphore(3, ...$options));
};
$both('server', 'must be Redis or ZooKeeper: semaphores and read/write locks are not offered on memcached', ['server' => 'memcached://127.0.0.1'], 1);
$both('server', 'must be Redis or ZooKeeper: semaphores and read/write locks are not offered on memcached', ['server' => ['scheme' => 'memcached', 'host' => '127.0.0.1']], 1);
$both('server', '*', ['server' => 'http://127.0.0.1'], 1);
foreach ([redis_servers(3), [['127.0.0.1', 6379]], [['host' => 'h'], ['host' => 'i']], ['127.0.0.1', '127.0.0.2']] as $servers) {
    $both('server', 'must be one server: semaphores and read/write locks are not offered on several independent ones, as RedLock is', ['server' => $servers], 1);
}
$both('server', 'must have a port between *', ['server' => ['127.0.0.1', 70000]], 1);
$both('ttl', 'must be between 0.003 and 31536000 seconds', ['server' => redis_server(), 'ttl' => 0.0], 3);
$both('ttl', 'must be between 0.003 and 10 seconds: no lease time may exceed the guard, which the option "guard" of the server sets', ['server' => 'redis://127.0.0.1?replicas=1', 'ttl' => 11.0], 3);
$both('timeout', 'must be between 0 and 31536000 seconds', ['server' => redis_server(), 'timeout' => -1.0], 4);
$both('onLoss', 'must be either "flag" or "throw"', ['server' => redis_server(), 'onLoss' => 'signal'], 6);
foreach (['redis://127.0.0.1?replicas=1', 'sentinel://127.0.0.1/mymaster', 'sentinel://127.0.0.1/mymaster?replicas=0', 'cluster://127.0.0.1', 'memory://', ['127.0.0.1', 6379], ['host' => '127.0.0.1'], null] as $server) {
    holds(new Semaphore(1, $server) instanceof Semaphore && new ReadWriteLock($server) instanceof ReadWriteLock, 'a good server', $server);
}

// ---- settings ----
$with = function (string $setting, string $value, callable $do): void {
    $before = ini_set($setting, $value);
    $do();
    ini_set($setting, $before);
};
$with('dlock.server', redis_server(), fn () => same(true, (new Semaphore(2))->acquire(unique('ini'))->release(), 'dlock.server'));
$with('dlock.server', 'memcached://127.0.0.1', fn () => fails(ValueError::class, 'dlock.server must be Redis or ZooKeeper: *; or give a $server', fn () => new Semaphore(2)));
$with('dlock.server', 'memory://', fn () => same(true, (new ReadWriteLock())->writeLock()->acquire('ini')->release(), 'dlock.server, in memory'));
$with('dlock.ttl', '33', function () {
    $lease = (new Semaphore(2, redis_server()))->acquire(unique('ttl'));
    within(10, $lease->remaining(), 33, 'dlock.ttl');
});
$with('dlock.timeout', '0.05', function () {
    $lock = (new ReadWriteLock(redis_server()))->writeLock();
    $lease = $lock->acquire(unique('timeout'), ttl: 100);
    fails(Dlock\AcquireTimeoutException::class, '* was not free within 0.05 s', fn () => $lock->acquire(unique('timeout')));
});

// ---- methods ----
$semaphore = new Semaphore(10, redis_server());
$sides = new ReadWriteLock(redis_server());
$calls = ['acquire' => fn (...$a) => $semaphore->acquire(...$a), 'tryAcquire' => fn (...$a) => $semaphore->tryAcquire(...$a),
    'synchronized' => fn ($resource, ...$a) => $semaphore->synchronized($resource, fn () => print("entered\n"), ...$a)];
foreach ($calls as $method => $call) {
    $at = $method === 'synchronized' ? 3 : 2;
    $of = "Dlock\Semaphore::$method(): Argument ";
    foreach ([0, -1, 11, PHP_INT_MAX] as $permits) {
        fails(ValueError::class, "$of#$at (\$permits) must be between 1 and 10, the capacity", fn () => $call(unique(), $permits));
    }
    fails(ValueError::class, "$of#1 (\$resource) must be between 1 and 1024 bytes long", fn () => $call(''));
    fails(ValueError::class, "$of#1 (\$resource) must be between 1 and 1024 bytes long", fn () => $call(str_repeat('x', 1025)));
    fails(ValueError::class, "$of#" . $at + 1 . ' ($timeout) must be between 0 and 31536000 seconds', fn () => $call(unique(), 1, -0.1));
    fails(ValueError::class, "$of#" . $at + 2 . ' ($ttl) must be between 0.003 and 31536000 seconds', fn () => $call(unique(), 1, 0.0, 0.0));
    fails(TypeError::class, "$of#$at (\$permits) must be of type int, null given", fn () => $call(unique(), null));
}
fails(ValueError::class, 'Dlock\Semaphore::availablePermits(): Argument #1 ($resource) must be between 1 and 1024 bytes long', fn () => $semaphore->availablePermits(''));
fails(ValueError::class, 'Dlock\Semaphore::attach(): Argument #1 ($handle) must be a handle from Lease::detach()*', fn () => $semaphore->attach('x'));
fails(ValueError::class, 'Dlock\ReadWriteLockSide::acquire(): Argument #1 ($resource) must be between 1 and 1024 bytes long', fn () => $sides->readLock()->acquire(''));
// A key that dlock keeps beside the locks.
fails(ValueError::class, 'Dlock\Semaphore::acquire(): Argument #1 ($resource) *', fn () => (new Semaphore(1, redis_server(), ''))->acquire('dlock:fence'));
// Any bytes are allowed.
foreach (["\0", "a b\r\n", '{x}', "\xff", str_repeat('x', 1024)] as $resource) {
    $resource = substr(unique() . $resource, 0, 1024);
    same([true, true], [$semaphore->acquire($resource, 3)->release(), $sides->writeLock()->acquire($resource)->release()], 'a resource of any bytes');
}

// ---- objects ----
foreach ([$semaphore, $sides, $sides->readLock()] as $object) {
    $class = $object::class;
    fails(Error::class, "Trying to clone an uncloneable object of class $class", fn () => clone $object);
    fails(Exception::class, "Serialization of '$class' is not allowed", fn () => serialize($object));
    fails(Error::class, "Cannot create dynamic property $class::\$x", fn () => $object->x = 1);
}
fails(Error::class, 'Dlock\Semaphore::__construct() has been called already', fn () => $semaphore->__construct(1, redis_server()));
fails(Error::class, 'Dlock\ReadWriteLock::__construct() has been called already', fn () => $sides->__construct(redis_server()));
same([10, 10], [$semaphore->availablePermits(unique('after')), $semaphore->acquire(unique('after'), 10)->permits], 'it is what it was');

// ---- passwords ----
$secret = 'geheim-7';
$server = "redis://user:$secret@127.0.0.1:" . closed_port();
$refused = fn (callable $make): string => (string) thrown_by($make);
foreach (['Semaphore' => [new Semaphore(1, $server), fn ($object) => $object->acquire('x')],
        'ReadWriteLock' => [new ReadWriteLock($server), fn ($object) => $object->readLock()->acquire('x')],
        'ReadWriteLockSide' => [(new ReadWriteLock($server))->writeLock(), fn ($object) => $object->acquire('x')]] as $name => [$object, $use]) {
    ob_start();
    var_dump($object);
    print_r($object);
    var_export($object);
    hides([$secret], ob_get_clean(), "var_dump() of a $name");
    $e = thrown_by(fn () => $use($object));
    same(Dlock\ConnectionException::class, get_debug_type($e), "$name: a server that is not there");
    hides([$secret], (string) $e, "the exception of a $name");
}
if (PHP_VERSION_ID >= 80200) {
    hides([$secret], (string) thrown_by(fn () => new Semaphore(1, "$server?no=option")), 'a backtrace of Semaphore');
    hides([$secret], (string) thrown_by(fn () => new ReadWriteLock("$server?no=option")), 'a backtrace of ReadWriteLock');
}
echo "done\n";
?>
--EXPECT--
done
