--TEST--
RedLock: one dead server of three is a lost vote; with two dead there is no quorum, and QuorumException explains it server by server
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--INI--
dlock.restart_guard=0
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

use Dlock\ConnectionException;
use Dlock\QuorumException;

$dead = ['127.0.0.1:' . closed_port(), '127.0.0.1:' . closed_port()];

// One server of three is dead.
$red = new RedLock([redis_server(), "redis://$dead[0]", redis_server(1)]);
$resource = unique();
$lock = $red->lock($resource);
same($resource, $lock['resource'] ?? null, 'lock() with one dead');
same(true, $red->isLocked($resource), 'isLocked() with one dead');
same(true, $red->unlock($lock), 'unlock() with one dead');
$lease = $red->acquire($resource, ttl: 100);
$lease->refresh(200);
within(150, $lease->remaining(), 198, 'remaining() with one dead');
$lease = $red->attach($lease->detach());
same(true, $lease->release(), 'release() with one dead');
same('result', $red->synchronized($resource, fn () => 'result'), 'synchronized() with one dead');

// Two servers of three are dead.
$red = new RedLock([redis_server(), "redis://$dead[0]", "redis://$dead[1]"], 1, 2, ttl: 1000);
same(false, $red->lock($resource, 1_000_000), 'lock() with two dead');
foreach (['acquire()' => fn () => $red->acquire($resource), 'tryAcquire()' => fn () => $red->tryAcquire($resource),
    'synchronized()' => fn () => $red->synchronized($resource, fn () => 1), 'isLocked()' => fn () => $red->isLocked($resource)] as $what => $do) {
    $e = thrown_by($do);
    same(QuorumException::class, get_debug_type($e), "$what with two dead");
    holds($e instanceof ConnectionException, "$what: a QuorumException is a ConnectionException");
    same("2 of 3 servers failed (quorum 2): Redis at $dead[0]: Connection refused; Redis at $dead[1]: Connection refused",
        $e->getMessage(), "$what: message");
    same([$dead[0] => 'Connection refused', $dead[1] => 'Connection refused'], $e->getServerErrors(), "$what: getServerErrors()");
}
wait_until_gone(redis_raw(), $resource);

// Servers fail while the lock is held.
$own = [redis_private(), redis_private(), redis_private()];
$red = new RedLock(array_map(fn ($server) => $server->dsn(), $own), 1, 2);
// So that all three have the key: a server that does not know a script yet, or is new to the process, may be slower
// than the decision.
foreach ([1, 2] as $round) {
    same(true, $red->unlock($red->lock($resource)), "round $round");
    foreach ($own as $server) {
        wait_for(fn () => !$red->isLocked($resource) && $server->raw()->cmd('EXISTS', $resource) === 0, 60, 'the key to be gone');
    }
}
$lease = $red->acquire($resource, ttl: 100);
$own[0]->kill();
same(true, $lease->isHeld(), 'isHeld() when one has died');
$lease->refresh(200);
$own[1]->kill();
$e = thrown_by(fn () => $lease->refresh(300));
same(QuorumException::class, get_debug_type($e), 'refresh() when two have died');
same([$own[0]->address(), $own[1]->address()], array_keys($e->getServerErrors()), 'the dead ones');
same(true, $lease->isHeld(), 'isHeld() for the time that was granted before');
within(100, $lease->remaining(), 198, 'remaining() for the time that was granted before');
$e = thrown_by(fn () => $lease->release());
same(QuorumException::class, get_debug_type($e), 'release() when two have died: nobody knows');
same(false, $lease->isHeld(), 'isHeld() after that');
wait_until_gone($own[2]->raw(), $resource); // from the one that lives

// The servers return.
$own[0]->restart();
$own[1]->restart();
$lock = $red->lock($resource);
same($resource, $lock['resource'] ?? null, 'lock() when all are back');
same(true, $red->unlock($lock), 'unlock() when all are back');

// A QuorumException that user code makes has no errors of servers.
same([], (new QuorumException('x'))->getServerErrors(), 'getServerErrors() of one made by hand');
echo "done\n";
?>
--EXPECT--
done
