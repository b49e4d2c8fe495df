<?php
/* One request of threads.c. The functions that are not PHP's are defined there. A section is entered after its lock was
   acquired, and left before the lock is released, however it is released. */
declare(strict_types=1);

const ENOUGH = 60.0; // seconds to wait for a lock that every thread releases soon
const SHARED = [0, 1]; // slots for short sections
const HELD = 2;        // the slot that is held for long

[$class, $name, $scenario, $run] = task();

function manager(string $name, ?float $ttl = 30.0): Dlock\LockManager
{
    $servers = array_map(fn (string $server) => "redis://$server", explode(',', getenv('DLOCK_TEST_REDIS')));
    return match ($name) {
        'DistributedLock' => new DistributedLock($servers[0], ttl: $ttl),
        'RedLock' => new RedLock(array_slice($servers, 0, 3), retryDelay: 20, retryCount: 3000, ttl: $ttl),
        'ZkLock' => new ZkLock(getenv('DLOCK_TEST_ZK'), '/threads'),
    };
}

/** Stays for a moment in which another thread would be noticed. */
function section(int $class, int $slot, int $token): void
{
    enter($class, $slot, $token);
    usleep(random_int(0, 3000));
    leave($class, $slot);
}

function resource(int $slot): string
{
    return $GLOBALS['run'] . '-' . $slot;
}

/** Calls the class' lock(). Returns the fencing token (or 0) and how to undo it. */
function lock_it(Dlock\LockManager $manager, string $resource): array
{
    if ($manager instanceof RedLock) {
        $lock = $manager->lock($resource, 30000) ?: throw new RuntimeException('no lock');
        return [$lock['fencingToken'], fn () => $manager->unlock($lock)];
    }
    $manager->lock($resource, ENOUGH) || throw new RuntimeException('no lock');
    return [0, fn () => $manager->release($resource)];
}

/** Holds a lease for several seconds, busy and idle, and looks at it all the time. */
function hold(Dlock\LockManager $manager, int $class, float $seconds): bool
{
    $lease = $manager->tryAcquire(resource(HELD));
    if ($lease === null) {
        return false; // another thread holds it
    }
    enter($class, HELD, $lease->fencingToken);
    $start = hrtime(true);
    for ($n = 0; ($passed = (hrtime(true) - $start) / 1e9) < $seconds; $n++) {
        if (!$lease->isHeld()) {
            complain(sprintf('the lease was lost after %.2f s', $passed));
            break;
        }
        if ($passed < $seconds / 2) {
            for ($i = 0, $text = ''; $i < 200; $i++) {
                $text = md5($text . $i);
            }
        } else {
            usleep(50000);
        }
    }
    leave($class, HELD);
    $lease->release() || complain('the lease was not held at its release');
    return true;
}

$slot = SHARED[random_int(0, 1)];
$resource = resource($slot);
$manager = manager($name);

switch ($scenario) {
    case 'synchronized':
        for ($i = 0; $i < 10; $i++) {
            $got = $manager->synchronized($resource, function (Dlock\Lease $lease) use ($class, $slot, $i) {
                section($class, $slot, $lease->fencingToken);
                return $i;
            }, ENOUGH);
            $got === $i || complain('synchronized() returned something else');
        }
        arrived();
        break;

    case 'lock':
        for ($i = 0; $i < 10; $i++) {
            [$token, $unlock] = lock_it($manager, $resource);
            section($class, $slot, $token);
            $unlock() || complain('the lock was not held at its release');
        }
        arrived();
        break;

    case 'acquire':
        for ($i = 0; $i < 10; $i++) {
            $lease = $manager->acquire($resource, ENOUGH);
            section($class, $slot, $lease->fencingToken);
            if ($i % 2) {
                $lease->release() || complain('the lease was not held at its release');
            } else {
                unset($lease); // releases it, without waiting for the answer
            }
        }
        arrived();
        break;

    case 'hold':
        if (hold(manager($name, 1.0), $class, 4.0)) { // it is renewed several times
            arrived();
        }
        break;

    case 'timeout':
        for ($i = 0; $i < 20; $i++) {
            $lease = $manager->tryAcquire(resource(HELD), 0.05);
            if ($lease === null) {
                timed_out();
            } else {
                section($class, HELD, $lease->fencingToken);
            }
            unset($lease);
        }
        arrived();
        break;

    case 'many':
        $leases = [];
        for ($i = 0; $i < 30; $i++) {
            $leases[] = $manager->acquire($run . '-' . bin2hex(random_bytes(8)), 5.0);
        }
        foreach ($leases as $lease) {
            $lease->isHeld() || complain('one of many is not held');
            $lease->release() || complain('one of many was not held at its release');
        }
        arrived();
        break;

    case 'throw':
        $lease = $manager->acquire($resource, ENOUGH);
        section($class, $slot, $lease->fencingToken);
        arrived();
        throw new RuntimeException('thrown on purpose');

    case 'throw_in_section':
        $manager->synchronized($resource, function (Dlock\Lease $lease) use ($class, $slot) {
            section($class, $slot, $lease->fencingToken);
            arrived();
            throw new RuntimeException('thrown on purpose');
        }, ENOUGH);
        // no break

    case 'leave': // the end of the request releases it
        [$token] = lock_it($manager, $resource);
        section($class, $slot, $token);
        arrived();
        break;

    case 'exit':
        $manager->synchronized($resource, function (Dlock\Lease $lease) use ($class, $slot) {
            section($class, $slot, $lease->fencingToken);
            arrived();
            exit('exit on purpose');
        }, ENOUGH);
        // no break

    case 'cycle': // objects that only the end of the request frees
        $holder = new stdClass;
        $holder->self = $holder;
        $holder->lease = $manager->acquire($resource, ENOUGH);
        $holder->manager = $manager;
        section($class, $slot, $holder->lease->fencingToken);
        unset($manager, $holder);
        arrived();
        break;

    case 'detach':
        $lease = $manager->acquire($resource, ENOUGH);
        enter($class, $slot, $lease->fencingToken);
        if (!$manager instanceof ZkLock) {
            $handle = $lease->detach();
            unset($lease);
            $lease = manager($name)->attach($handle);
        }
        leave($class, $slot);
        $lease->release() || complain('the lease was not held at its release');
        arrived();
        break;

    case 'fatal':
        $lease = $manager->acquire($resource, ENOUGH);
        section($class, $slot, $lease->fencingToken);
        arrived();
        trigger_error('fatal on purpose', E_USER_ERROR);
        // no break

    case 'memory':
        $lease = $manager->acquire($resource, ENOUGH);
        section($class, $slot, $lease->fencingToken);
        arrived();
        for ($all = [];;) {
            $all[] = str_repeat('x', 1 << 20);
        }
}
