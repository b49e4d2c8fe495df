--TEST--
Objects that own locks cannot be cloned, serialized or given properties; what they print helps
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/handover.inc';

class OwnLock extends DistributedLock
{
    public int $calls = 0;

    public function lock(string $key, int|float|null $timeout = null, int|float|null $expire = null): bool
    {
        $this->calls++;
        return parent::lock("own:$key", $timeout, $expire);
    }
}

final class Serialisable extends RedLock
{
    public function __serialize(): array
    {
        return [];
    }

    public function __unserialize(array $data): void
    {
    }
}

$lock = new DistributedLock(redis_server());
$objects = [$lock, new RedLock(redis_servers(3)), $lock->acquire(unique('lease')), new OwnLock(redis_server()), new Serialisable(redis_servers(3))];
foreach ($objects as $object) {
    $class = $object::class;
    fails(Error::class, "Trying to clone an uncloneable object of class $class", fn () => clone $object);
    fails(Exception::class, "Serialization of '$class' is not allowed", fn () => serialize($object));
    fails(Exception::class, "Unserialization of '$class' is not allowed", fn () => unserialize(sprintf('O:%d:"%s":0:{}', strlen($class), $class)));
    if (get_parent_class($object) === false) {
        fails(Error::class, "Cannot create dynamic property $class::\$more", fn () => $object->more = 1);
        same(false, isset($object->more), "isset() of $class");
    }
}
// (PHP 8.4 says "indirectly".)
fails(Error::class, 'Cannot *modify readonly property Dlock\Lease::$token', function () use ($objects) {
    $reference = &$objects[2]->token;
});
fails(Error::class, 'Cannot unset readonly property Dlock\Lease::$token', function () use ($objects) {
    unset($objects[2]->token);
});
fails(ReflectionException::class, '*cannot be instantiated*', fn () => (new ReflectionClass(Dlock\Lease::class))->newInstanceWithoutConstructor());

// A subclass is a lock with methods of its own.
$own = new OwnLock(redis_server());
$key = unique('own');
same([true, 1], [$own->lock($key, 0), $own->calls], 'lock() of a subclass');
same(1, redis_raw()->cmd('EXISTS', "Lock:own:$key"), 'its key');
same(true, $own->isLocking("own:$key"), 'isLocking() of a subclass');
same(true, $own instanceof Dlock\LockManager, 'a subclass is a LockManager');

// The constructor is not called.
$never = new class extends DistributedLock {
    public function __construct()
    {
    }
};
$never_red = new class extends RedLock {
    public function __construct()
    {
    }
};
$plain = (new ReflectionClass(DistributedLock::class))->newInstanceWithoutConstructor();
$calls = [
    'lock' => ['x'], 'release' => ['x'], 'unlock' => ['x'], 'unlockAll' => [], 'expire' => ['x', 1], 'isLocking' => ['x'], 'acquire' => ['x'],
    'tryAcquire' => ['x'], 'synchronized' => ['x', 'strlen'], 'attach' => ['dlock1.x'], 'isLocked' => ['x'],
];
foreach ([$never, $plain] as $object) {
    foreach ($calls as $method => $arguments) {
        fails(Error::class, '*::__construct() has not been called', fn () => $object->$method(...$arguments), $method);
    }
}
foreach (['lock' => ['x'], 'unlock' => [['resource' => 'x', 'token' => str_repeat('a', 32)]], 'acquire' => ['x'], 'isLocked' => ['x'], 'attach' => ['x']] as $method => $arguments) {
    fails(Error::class, '*::__construct() has not been called', fn () => $never_red->$method(...$arguments), "RedLock::$method");
}
ob_start();
var_dump($never, $plain, $never_red);
hides(["\0Dlock"], ob_get_clean(), 'var_dump() of what was not constructed');

// A constructor that failed may be called again; one that succeeded may not.
same(null, thrown_by(fn () => $plain->__construct(redis_server())), 'a late constructor');
same(true, $plain->lock(unique('late'), 0), 'lock() after it');
$failed = (new ReflectionClass(DistributedLock::class))->newInstanceWithoutConstructor();
fails(ValueError::class, '*', fn () => $failed->__construct('nowhere'));
fails(Error::class, 'DistributedLock::__construct() has not been called', fn () => $failed->lock('x'));
same(null, thrown_by(fn () => $failed->__construct(redis_server())), 'a second try of the constructor');
same(true, $failed->lock(unique('tried'), 0), 'lock() after that');
$key = unique('twice');
$lock->lock($key, 0);
fails(Error::class, 'DistributedLock::__construct() has been called already', fn () => $lock->__construct(redis_server(1)));
fails(Error::class, 'RedLock::__construct() has been called already', fn () => $objects[1]->__construct(redis_servers(3)));
same(true, $lock->isLocking($key), 'the lock after a second constructor');

// A class of the program may implement the interface.
$own = new OnePermit(new Dlock\Semaphore(1, 'memory://'));
foreach ([fn () => Dlock\list_all($own), fn () => Dlock\break_lock($own, 'x', 'id', 'me'), fn () => Dlock\list_all(new stdClass())] as $do) {
    fails(TypeError::class, '*(): Argument #1 ($locks) must be an object of a lock class of dlock, or a Dlock\Semaphore', $do);
}

// Constructors do not connect.
same(null, thrown_by(fn () => new DistributedLock('redis://127.0.0.1:' . closed_port())), 'a server that is not there');
same(null, thrown_by(fn () => new RedLock(['redis://no-such-host.invalid'])), 'a host that is not there');
echo "done\n";
?>
--EXPECT--
done
