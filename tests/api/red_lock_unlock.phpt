--TEST--
RedLock: any process that has the array of lock() can unlock() it: with another object, in another process, in a child
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$servers = redis_servers(3);
$red = new RedLock($servers);
$resource = unique();

$lock = $red->lock($resource, 60_000);
same(true, (new RedLock($servers))->unlock($lock), 'another object');
same(false, $red->isLocked($resource), 'locked after another object');
same(false, $red->unlock($lock), 'unlock() after another object');

$lock = $red->lock($resource, 60_000);
$other = php_child('
    var_dump((new RedLock(explode(",", $argv[1])))->unlock(json_decode($argv[2], true)));
', [implode(',', $servers), json_encode($lock)]);
same("bool(true)\n", $other->readAll(), 'another process');
same(false, $red->isLocked($resource), 'locked after another process');
same(false, $red->unlock($lock), 'unlock() after another process');

$lock = $red->lock($resource, 60_000);
same([true], fork_run(1, fn () => $red->unlock($lock)), 'a child, to which the parent gave it');
same(false, $red->isLocked($resource), 'locked after the child');

// unlock() needs only "resource" and "token".
$lock = $red->lock($resource, 60_000);
same(true, $red->unlock(['token' => $lock['token'], 'resource' => $resource]), 'resource and token');
$lock = $red->lock($resource, 60_000);
$by_reference = $lock;
$reference = &$by_reference['token'];
same(true, $red->unlock($by_reference), 'a reference in the array');
unset($reference);

// Another client's token. This process loses nothing.
$losses = Dlock\stats()['losses'];
$lock = $red->lock($resource, 60_000);
same(false, $red->unlock(['token' => str_repeat('0', strlen($lock['token']))] + $lock), 'another token');
same(false, $red->unlock(['resource' => "$resource-2"] + $lock), 'another resource');
same(true, $red->isLocked($resource), 'locked after those');
same($losses, Dlock\stats()['losses'], 'losses');

// An object of another lock cannot release it, and its lease continues.
$renewing = new RedLock($servers, renew: true);
foreach (['other servers' => new RedLock(array_slice(redis_servers(6), 3)), 'another prefix' => new RedLock($servers, prefix: 'other:')] as $what => $other) {
    $held = $renewing->lock(unique($what), 3_000);
    same(false, $other->unlock($held), "unlock() with $what");
    $renewals = Dlock\stats()['renewals'];
    wait_for(fn () => Dlock\stats()['renewals'] > $renewals, 60, "a renewal after unlock() with $what");
    same(true, (new RedLock(array_reverse($servers)))->unlock($held), "unlock() after that with $what");
    same(false, $renewing->isLocked(unique($what)), "locked after that with $what");
}

// Arrays that lock() cannot have returned.
$text = 'RedLock::unlock(): Argument #1 ($lock) must be what RedLock::lock() returned, with its "resource" and its "token"';
foreach (['no token' => ['resource' => $resource], 'no resource' => ['token' => $lock['token']], 'nothing' => [],
    'a list' => array_values($lock), 'a token that is none' => ['token' => 'x'] + $lock, 'no text' => ['token' => 5] + $lock,
    'upper case' => ['token' => str_repeat('A', 32)] + $lock, 'an empty resource' => ['resource' => ''] + $lock,
    'a long resource' => ['resource' => str_repeat('x', 1025)] + $lock, 'an int' => ['resource' => 5] + $lock] as $what => $bad) {
    fails(ValueError::class, $text, fn () => $red->unlock($bad), $what);
}
fails(TypeError::class, 'RedLock::unlock(): Argument #1 ($lock) must be of type array, *', fn () => $red->unlock(false));
same(true, $red->unlock($lock), 'unlock() at last');

// If a majority has lost the lock, unlock() returns false; if one server of three has, true.
$lock = $red->lock($resource, 60_000);
$take_away = function (int $server) use (&$lock, $resource) {
    wait_for(fn () => redis_raw($server)->cmd('GET', $resource) === $lock['token'], 60, 'the key');
    redis_raw($server)->cmd('DEL', $resource);
};
$take_away(0);
same(true, $red->unlock($lock), 'lost on one of three');
$lock = $red->lock($resource, 60_000);
array_map($take_away, [0, 1]);
same(false, $red->unlock($lock), 'lost on two of three');
echo "done\n";
?>
--EXPECT--
done
