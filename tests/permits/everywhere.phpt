--TEST--
Each operation of a lock, a semaphore, a read/write lock and a stock works on each kind of server: in memory, on one, behind Sentinels and in a cluster whose replicas acknowledge
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/strands.inc';
require __DIR__ . '/../inc/replicated.inc';

use Dlock\LeaseState;
use Dlock\OrderState;

Strands::install();

/**
 * Passes calls on to an object of dlock, and notes where each was called, by its interface. So the test finds new
 * methods that it lacks.
 */
final class Noted
{
    /** @var array<string, array<string, true>> */
    public static array $called = [];

    public function __construct(private readonly object $of, private readonly string $where, private readonly string $face)
    {
    }

    public function __call(string $method, array $arguments): mixed
    {
        self::$called[$this->where]["$this->face::$method"] = true;
        $result = $this->of->$method(...$arguments);
        $faces = ['Dlock\Lease' => 'Lease', 'Dlock\Reservation' => 'Reservation', 'Dlock\ReadWriteLockSide' => 'LockManager'];
        $face = is_object($result) ? $faces[$result::class] ?? null : null;
        return $face ? new self($result, $this->where, $face) : $result;
    }

    public function __get(string $name): mixed
    {
        return $this->of->$name;
    }
}

/** Calls everything that a lease offers. @param Closure $attach (string $handle): Noted */
function lease(string $name, Noted $lease, Closure $attach): Noted
{
    same([LeaseState::Held, true, null], [$lease->state(), $lease->isHeld(), $lease->assertHeld()], "$name: a lease");
    $lease->refresh();
    holds($lease->remaining() > 0.0, "$name: refresh(), remaining()", $lease->remaining());
    $attached = $attach($lease->detach());
    same([LeaseState::Released, LeaseState::Held], [$lease->state(), $attached->state()], "$name: detach(), attach()");
    holds($attached->fencingToken > $lease->fencingToken, "$name: its fencing token", $lease->fencingToken, $attached->fencingToken);
    return $attached;
}

/** A lock, or one side of a read/write lock, which excludes all permits of the others. */
function lock(string $name, Noted $locks, string $resource, Noted $others): void
{
    $lease = lease($name, $locks->acquire($resource, 120), $locks->attach(...));
    same([null, true], [$others->tryAcquire($resource), $locks->isLocked($resource)], "$name: held");
    same(1, count($locks->inspect($resource)->holders), "$name: inspect()");
    wait_for(fn () => in_array($resource, array_column($locks->inspectAll(1000), 'resource'), true), 60, "$name: inspectAll()");
    same([true, false, 1], [$lease->release(), $locks->isLocked($resource), $locks->synchronized($resource, fn () => 1)], "$name: release(), synchronized()");
    same(true, $locks->tryAcquire($resource)->release(), "$name: tryAcquire()");
}

function read_write_lock(string $name, Noted $both, string $resource): void
{
    [$reads, $writes] = [$both->readLock(), $both->writeLock()];
    lock("$name, to read", $reads, $resource, $writes);
    lock("$name, to write", $writes, $resource, $reads);
    $lease = $reads->acquire($resource, 120);
    $lease->upgrade(0);
    same(null, $reads->tryAcquire($resource), "$name: upgrade()");
    $lease->downgrade();
    same([true, true], [$reads->tryAcquire($resource)->release(), $lease->release()], "$name: downgrade()");
}

function semaphore(string $name, Noted $semaphore, string $resource): void
{
    $lease = lease($name, $semaphore->acquire($resource, 2, 120), $semaphore->attach(...));
    same([2, null, 1], [$lease->permits, $semaphore->tryAcquire($resource, 2), $semaphore->availablePermits($resource)], "$name: two of three");
    same(1, count($semaphore->inspect($resource)->holders), "$name: inspect()");
    wait_for(fn () => in_array($resource, array_column($semaphore->inspectAll(1000), 'resource'), true), 60, "$name: inspectAll()");
    same([1, true, 3], [$semaphore->synchronized($resource, fn () => 1), $lease->release(), $semaphore->availablePermits($resource)], "$name: synchronized(), release()");
    same(true, $semaphore->tryAcquire($resource, 3)->release(), "$name: tryAcquire()");
}

/** Orders of one product, and of two. */
function stock(string $name, Noted $stock, array $items): void
{
    $counts = fn (string $sku) => array_slice(array_values($stock->counts($sku)), 0, 4);
    foreach ($items as $sku => $units) {
        same([10, 10, -2], [$stock->restock($sku, 10, 'one'), $stock->restock($sku, 10, 'one'), $stock->restock($sku, -2)], "$name: restock()");
    }
    $sku = array_key_first($items);
    $order = $stock->reserve($items, 'ann', '1');
    $order->extend(900);
    holds($order->remaining() > 0.0, "$name: extend(), remaining()", $order->remaining());
    $order->change(array_map(fn (int $units) => $units + 1, $items));
    same([OrderState::Reserved, array_map(fn (int $units) => $units + 1, $items)], [$order->status(), $stock->order($items, 'ann', '1')?->items], "$name: change()");
    same([true, false, OrderState::Sold], [$order->confirm(), $stock->reservation($items, 'ann', '1')->confirm(), $order->status()], "$name: confirm()");
    if (count($items) === 1) {
        same([true, false], [$order->refund(quantity: 1, change: 'part'), $order->refund(quantity: 1, change: 'part')], "$name: refund() of a part");
    }
    same([true, false, OrderState::Refunded], [$order->refund(false), $order->refund(), $order->status()], "$name: refund()");
    $left = 8 - (count($items) === 1 ? $items[$sku] : $items[$sku] + 1); // units that were not put up for sale again
    same(['open', $left, 0, 0], $counts($sku), "$name: what is left");
    $cancelled = $stock->reserve($items, 'bob', '1');
    same([true, false, OrderState::Cancelled], [$cancelled->cancel(), $cancelled->cancel(), $cancelled->status()], "$name: cancel()");
    $page = $stock->orders($sku, limit: 10);
    $states = array_map(fn ($order) => $order->state->value, $page->orders);
    sort($states);
    same([['cancelled', 'refunded'], null], [$states, $page->next], "$name: orders()");
    same([$left, $left], [$stock->counts([$sku], confirmed: true)[$sku]['available'], $counts($sku)[1]], "$name: counts()");
    $stock->close($sku);
    same([null, 'closed'], [$stock->reserve($items, 'cid', '1'), $counts($sku)[0]], "$name: close()");
    $stock->open($sku);
    same(true, $stock->reserve($items, 'cid', '1')->confirm(), "$name: open()");
    $stock->end($sku);
    same([null, 'ended'], [$stock->reserve($items, 'dan', '1'), $counts($sku)[0]], "$name: end()");
}

/** Waiters for one product: first fit, or in order; one withdraws; the sale ends. */
function waiters(string $name, Dlock\Inventory $fit, Dlock\Inventory $fifo): void
{
    foreach (['fit' => $fit, 'fifo' => $fifo] as $fairness => $stock) {
        $sku = "waits-$fairness";
        $waiting = fn () => $stock->counts($sku)['waiting'];
        $got = new ArrayObject();
        $waits = function (string $buyer, int $units) use ($stock, $sku, $got, $waiting): void {
            $before = $waiting();
            Strands::spawn(function () use ($stock, $sku, $buyer, $units, $got) {
                $got[$buyer] = $stock->reserve([$sku => $units], $buyer, 'r', 120);
            });
            until(fn () => $waiting() === $before + 1, "$buyer to wait");
        };
        $stock->restock($sku, 3);
        $held = $stock->reserve([$sku => 3], 'ann', 'r');
        $waits('bob', 3);
        $waits('cid', 1);
        $held->change([$sku => 2]);
        if ($fairness === 'fit') {
            until(fn () => isset($got['cid']), "$name, $fairness: one is enough for the second");
            same([[$sku => 1], 1], [$got['cid']->items, $waiting()], "$name, $fairness: it has it");
            $got['cid']->cancel();
        } else {
            same([2, null], [$waiting(), $stock->reserve($sku, 'dan', 'r')], "$name, $fairness: nobody passes the first");
        }
        $held->cancel();
        until(fn () => isset($got['bob']), "$name, $fairness: all for the first");
        same([$sku => 3], $got['bob']->items, "$name, $fairness: all for the first");
        $fairness === 'fit' && $waits('cid', 1);
        same(true, $stock->reservation($sku, 'cid', 'r')->cancel(), "$name, $fairness: a waiter is withdrawn");
        until(fn () => $got->offsetExists('cid') && $waiting() === 0, "$name, $fairness: it ends");
        $waits('eve', 1);
        $got['bob']->confirm();
        until(fn () => $got->offsetExists('eve'), "$name, $fairness: all are sold");
        same([null, 0], [$got['eve'], $waiting()], "$name, $fairness: the last hears of it");
    }
}

function until(Closure $condition, string $what): void
{
    $end = now() + 60;
    Strands::spawn(fn () => Strands::until(fn () => $condition() || now() > $end));
    Strands::run(fn () => $condition());
    holds($condition(), $what);
}

/** @return list<string> in the form of Noted */
function operations(): array
{
    $all = [];
    foreach (['LockManager', 'SemaphoreInterface', 'ReadWriteLockInterface', 'Lease', 'Inventory', 'Reservation'] as $face) {
        foreach ((new ReflectionClass("Dlock\\$face"))->getMethods(ReflectionMethod::IS_PUBLIC) as $method) {
            $all[] = "$face::{$method->getName()}";
        }
    }
    return $all;
}

$sentinels = new SentinelSet(1, downAfter: 60_000);
$cluster = new ClusterSet(3, 3, timeout: 60_000);
// If replicas acknowledge, servers grant locks half a minute after the first request. All keys are in one slot, so this
// wait comes once.
$guarded = ['replicas' => 1, 'guard' => 30];
$servers = ['memory' => 'memory://everywhere', 'one server' => redis_server(), 'Sentinels' => $sentinels->dsn($guarded), 'cluster' => $cluster->dsn($guarded)];
$slot = '{' . unique('everywhere') . '}';
foreach (['Sentinels', 'cluster'] as $where) {
    same(null, (new DistributedLock($servers[$where], "$slot:lock:", ttl: 30.0))->tryAcquire('r', 0.1), "$where: nothing is granted yet");
}
foreach ($servers as $where => $server) {
    stock("$where: one product", new Noted(new Dlock\Stock($server, "$slot:one:"), $where, 'Inventory'), ['shoe' => 2]);
    stock("$where: two products", new Noted(new Dlock\Stock($server, "$slot:two:"), $where, 'Inventory'), ['shoe' => 1, 'hat' => 2]);
    waiters($where, new Dlock\Stock($server, "$slot:wait:"), new Dlock\Stock($server, "$slot:wait:", fairness: 'fifo'));
}
foreach ($servers as $where => $server) {
    $lock = new Noted(new DistributedLock($server, "$slot:lock:", ttl: 30.0), $where, 'LockManager');
    lock("$where: lock", $lock, 'r', $lock);
    read_write_lock("$where: read/write lock", new Noted(new Dlock\ReadWriteLock($server, "$slot:sides:", ttl: 30.0), $where, 'ReadWriteLockInterface'), 'r');
    semaphore("$where: semaphore", new Noted(new Dlock\Semaphore(3, $server, "$slot:permits:", ttl: 30.0), $where, 'SemaphoreInterface'), 'r');
    same([], array_values(array_diff(operations(), array_keys(Noted::$called[$where]))), "$where: what was not called");
}
echo "done\n";
?>
--EXPECT--
done
