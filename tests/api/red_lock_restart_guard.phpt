--TEST--
RedLock: INI dlock.restart_guard and the lease time set how old a server must be to vote; 0 asks nothing; a server that hides its age has no vote
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

use Dlock\QuorumException;

// Young servers, one of them dead: with the guard they have no vote.
$own = [redis_private(), redis_private()];
$dead = '127.0.0.1:' . closed_port();
$dsns = [...array_map(fn ($server) => $server->dsn(), $own), "redis://$dead"];
$resource = unique();
$red = function (string $guard, ?float $ttl = null) use (&$dsns): RedLock {
    ini_set('dlock.restart_guard', $guard);
    $red = new RedLock($dsns, 1, 1, ttl: $ttl);
    ini_restore('dlock.restart_guard');
    return $red;
};
foreach ([
    'the default' => [$red(ini_get('dlock.restart_guard')), '10 s (dlock.restart_guard)'],
    'more' => [$red('3600.5'), '3600.5 s (dlock.restart_guard)'],
    'a long lease' => [$red('0.001', 3600), '3600 s (the lease time asked for)'],
    'little, and the lease time by default' => [$red('0.001'), '10 s (the lease time asked for)'],
] as $what => [$lock, $text]) {
    $e = thrown_by(fn () => $lock->tryAcquire($resource));
    same(QuorumException::class, get_debug_type($e), $what);
    // One of the two may be slower than the decision.
    $reasons = array_diff_key($e?->getServerErrors() ?? [], [$dead => '']);
    holds($reasons !== [], "$what: a reason");
    foreach ($reasons as $reason) {
        holds(str_ends_with($reason, "it votes once it has been up for $text"), "$what: the reason", $reason);
    }
}
$off = $red('0', 3600);
same(true, $off->tryAcquire($resource)?->release(), 'switched off');
same(QuorumException::class, get_debug_type(thrown_by(fn () => $red('10')->tryAcquire($resource))), 'another object beside it');
same(true, $off->tryAcquire($resource)?->release(), 'switched off, again');

// RedLock asks once over each new connection.
$server = redis_private();
$redis = $server->raw();
$asked = function (callable $do) use ($redis): int {
    $redis->cmd('CONFIG', 'RESETSTAT');
    $do();
    return command_counts($redis)['info'] ?? 0;
};
$cycles = function (RedLock|DistributedLock $lock) use ($resource) {
    for ($i = 0; $i < 10; $i++) {
        $lock->acquire($resource)->release();
    }
};
$dsns = [$server->dsn()];
same(0, $asked(fn () => $cycles(new DistributedLock($server->dsn()))), 'what DistributedLock asks');
same(0, $asked(fn () => $cycles($red('0'))), 'what is asked when it is off');
same(1, $asked(fn () => $cycles($red('10'))), 'what is asked the first time');
same(0, $asked(fn () => $cycles($red('10'))), 'what is asked later');
$redis->cmd('CLIENT', 'KILL', 'TYPE', 'normal');
same(0, $asked(fn () => $cycles($red('0'))), 'what is asked on a new connection, when it is off');
$redis->cmd('CLIENT', 'KILL', 'TYPE', 'normal');
same(1, $asked(fn () => $cycles($red('10'))), 'what is asked on a new connection');
same(1, count(client_ids($redis)), 'connections of both classes');

// The user may not ask.
$own[] = redis_private();
foreach ($own as $server) {
    $server->raw()->cmd('ACL', 'SETUSER', 'locks', 'on', '>the-secret', '~*', '&*', '+@all', '-info');
}
$dsns = array_map(fn ($server) => 'redis://locks:the-secret@' . $server->address(), $own);
$lock = $red('10');
$e = thrown_by(fn () => $lock->acquire($resource, 60));
same(QuorumException::class, get_debug_type($e), 'without +info');
holds((bool) preg_match('/^does not say how long it has been up \(NOPERM .*\), so it has no vote; give the user \+info, or set dlock\.restart_guard=0$/',
    current($e?->getServerErrors() ?? [])), 'without +info: the reason', $e?->getServerErrors());
hides(['the-secret'], "$e", 'the exception');
same(true, $red('0')->tryAcquire($resource)?->release(), 'without +info, switched off');
same(true, (new DistributedLock($dsns[0]))->tryAcquire($resource)?->release(), 'without +info, one server');
foreach ($own as $server) {
    $server->raw()->cmd('ACL', 'SETUSER', 'locks', '+info');
}
same(true, $lock->tryAcquire($resource)?->release(), 'when the right is given');
echo "done\n";
?>
--EXPECT--
done
