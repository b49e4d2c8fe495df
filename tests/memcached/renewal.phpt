--TEST--
memcached: leases are renewed beyond their lease time, or not, as ttl, renew, expire(), refresh() and dlock.max_hold say
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_memcached();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/memcached.inc';

use Dlock\LeaseState;

const TTL = 12.0; // two stops of three seconds do not end a lease that is renewed

$server = new PrivateMemcached();
$raw = $server->raw();
$manager = fn (mixed ...$options) => new DistributedLock($server->dsn(), ...['ttl' => TTL, ...$options]);
$plain = $manager();
$always = $manager(renew: true);
$never = $manager(renew: false);

// All begin at once, and the test observes them for longer than a lease time.
$leases = [
    'acquire()' => [true, $plain->acquire(...)],
    'tryAcquire()' => [true, $plain->tryAcquire(...)],
    'a ttl' => [false, fn ($r) => $plain->acquire($r, 0, TTL)],
    'renew: true, a ttl' => [true, fn ($r) => $always->acquire($r, 0, TTL)],
    'renew: false' => [false, $never->acquire(...)],
    'refresh()' => [true, function ($r) use ($plain) {
        ($lease = $plain->acquire($r))->refresh();
        return $lease;
    }],
    'refresh(), renew: false' => [false, function ($r) use ($never) {
        ($lease = $never->acquire($r))->refresh(TTL);
        return $lease;
    }],
    'a shorter time by refresh()' => [true, function ($r) use ($plain) {
        ($lease = $plain->acquire($r))->refresh(30);
        $lease->refresh(TTL);
        return $lease;
    }],
    'attach()' => [true, fn ($r) => $plain->attach($plain->acquire($r)->detach())],
    'attach(), renew: false' => [false, fn ($r) => $never->attach($plain->acquire($r)->detach())],
];
$locks = [
    'lock()' => [true, fn ($r) => $plain->lock($r, 0)],
    'lock() with a ttl' => [false, fn ($r) => $plain->lock($r, 0, TTL)],
    'lock(), renew: false' => [false, fn ($r) => $never->lock($r, 0)],
    'expire()' => [false, fn ($r) => $plain->lock($r, 0) && $plain->expire($r, TTL)],
];
$held = [];
$resource = fn (string $what) => 'r-' . md5($what);
foreach ($leases as $what => [, $take]) {
    $held[$what] = $take($resource($what));
}
foreach ($locks as $what => [, $take]) {
    same(true, $take($resource($what)), $what);
}
ini_set('dlock.max_hold', '6');
$limited = $manager()->acquire('limited');
ini_set('dlock.max_hold', '0');
$detached = $plain->acquire('detached')->detach();

$begun = now();
$ended = [];
$limit = null;
$ending = count(array_filter($leases, fn (array $lease) => !$lease[0]));
while (now() < $begun + TTL * 4 / 3 || (now() < $begun + 60 && (!$limit || count($ended) < $ending))) {
    foreach ($held as $what => $lease) {
        if (!isset($ended[$what]) && !$lease->isHeld()) {
            $ended[$what] = now() - $begun;
        }
    }
    $limited->isHeld() || $limit ??= now() - $begun;
    pause(0.02);
}
foreach ($leases as $what => [$goes_on]) {
    same(!$goes_on, isset($ended[$what]), "$what: has it ended?");
    $goes_on || within(0, $ended[$what], SOON, "$what: when it ended");
    same([$goes_on ? LeaseState::Held : LeaseState::Lost, $goes_on], [$held[$what]->state(), $plain->isLocked($resource($what))], "$what: state(), and the key");
    same($goes_on, $held[$what]->release(), "$what: release()");
}
foreach ($locks as $what => [$goes_on]) {
    same([$goes_on, $goes_on], [$plain->isLocked($resource($what)), ($what === 'lock(), renew: false' ? $never : $plain)->release($resource($what))], $what);
}
same(false, $plain->isLocked('detached'), 'what was detached is not renewed');
holds($limit !== null && $limit > 3 && $limit < 6 + TTL, 'dlock.max_hold of 6 s ends it', $limit);
wait_for(fn () => !$plain->isLocked('limited'), 60, 'dlock.max_hold: the end of the key');
within(5, Dlock\stats()['renewals'], 400, 'renewals');
same(0, Dlock\stats()['renewal_failures'], 'renewal failures');

// Nothing is left.
same(['dlock:fence'], array_values(array_diff($raw->keys(), ['dlock:clock'])), 'keys in the end');
echo "done\n";
?>
--EXPECT--
done
