--TEST--
Databases: forks, ends of requests, killed processes, renewal, and sessions that end under a lease
--EXTENSIONS--
pdo
mysqlnd
pdo_mysql
pdo_pgsql
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_databases();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/database.inc';

use Dlock\LeaseLostException;
use Dlock\LeaseState;

foreach (private_databases() as $kind => $server) {
    $dsn = $server->dsn('create=1&guard=300&connect_timeout=60&read_timeout=60');
    $lock = new DistributedLock($dsn, ttl: 10);
    $lock->lock('lock', 0);
    $lease = $lock->acquire('lease', 0);
    $limited = $lock->acquire('limited', 60, 1.5);
    $loss = new DistributedLock($dsn, ttl: 1.5, onLoss: 'throw');

    // ---- a child holds nothing of its parent's, and has sessions of its own ----
    $child = fork_child(function (callable $say, callable $hear) use ($lock, $lease, $server) {
        ob_start();
        same([false, false, false], [$lock->release('lock'), $lock->isLocking('lock'), $lock->expire('lock', 5)], 'the parent\'s lock() in the child');
        same([false, LeaseState::Lost, false], [$lease->isHeld(), $lease->state(), $lease->release()], 'a lease in the child');
        same([false, null, true], [$lock->lock('lock', 0), $lock->tryAcquire('lease'), $lock->isLocked('lease')], 'what the parent holds');
        $own = $lock->acquire('own-renewed', 0);
        same([true, true], [$lock->lock('own', 0), $lock->isLocking('own')], 'a lock of the child\'s own');
        $say(ob_get_clean());
        $hear();
        ob_start();
        same([true, true], [$own->isHeld(), $own->release()], 'the child\'s own');
        return ob_get_clean();
    });
    same('', $child->hear(), "$kind: in the child");
    same([false, null], [$lock->lock('own', 0), $lock->tryAcquire('own-renewed')], "$kind: what the child holds");
    foreach (['Lock:own-renewed', 'Lock:lease'] as $name) {
        $server->waitForRenewal($name);
    }
    $child->say('go on');
    same('', $child->result(), "$kind: in the child, later");
    same([null, null], [$server->token('Lock:own'), $server->token('Lock:own-renewed')], "$kind: what the child held");
    same([LeaseState::Held, LeaseState::Lost], [$lease->state(), $limited->state()], "$kind: one that is renewed, one that is not");

    // ---- sessions are ended: the lease continues over new ones ----
    for ($i = 0; $i < 3; $i++) {
        array_map($server->endSession(...), $server->sessions());
        pause(0.7);
        same(true, $lease->isHeld(), "$kind: after the sessions were ended");
        wait_for(fn () => $lease->state() === LeaseState::Held, 60, 'a renewal over a new session');
    }
    same([true, true], [$lock->release('lock'), $lease->release()], "$kind: release() after that");

    // ---- a lock is taken away, or given to another holder: the next renewal finds out, and the holder is told ----
    fails(LeaseLostException::class, '*"taken"*', function () use ($loss, $server, &$lease) {
        $lease = $loss->acquire('taken', 60);
        $server->takeAway('Lock:taken');
        busy(30);
    }, "$kind: onLoss throw");
    same(LeaseState::Lost, $lease->state(), "$kind: what was taken away");
    $section = function () use ($server) {
        $server->takeAway('Lock:section');
        busy(30);
    };
    fails(LeaseLostException::class, 'The lock "section" was lost*', fn () => $loss->synchronized('section', $section, 60), "$kind: in a section");
    $flag = new DistributedLock($dsn, ttl: 30);
    [$taken, $given, $expired] = [$flag->acquire('flag taken', 0), $flag->acquire('flag given', 0), $flag->lock('flag lock', 0)];
    array_map($server->takeAway(...), ['Lock:flag taken', 'Lock:flag given', 'Lock:flag lock']);
    $next = database_holder($dsn, 'flag given', 100, 60);
    $fence = $next->hear();
    foreach (['taken' => $taken, 'given' => $given] as $how => $lease) {
        wait_for(fn () => !$lease->isHeld(), 60, "$kind: onLoss flag, $how");
        same([LeaseState::Lost, 0.0], [$lease->state(), $lease->remaining()], "$kind: $how: state()");
        foreach (['assertHeld', 'refresh', 'detach'] as $method) {
            fails(LeaseLostException::class, "The lock \"$lease->resource\" was lost", $lease->$method(...), "$kind: $how: $method()");
        }
        same(false, $lease->release(), "$kind: $how: release()");
    }
    same([true, false, false], [$expired, $flag->isLocking('flag lock'), $flag->release('flag lock')], "$kind: lock()");
    same($fence, $server->grant('Lock:flag given')['fence'], "$kind: the next holder has it");
    $next->say(null);
    same(true, $next->result(), "$kind: its release()");

    // ---- a holder is stopped for longer than its lease: it finds it lost, and so does its transaction ----
    $stopped = fork_child(function (callable $say, callable $hear) use ($server, $dsn) {
        $lease = (new DistributedLock($dsn, ttl: 1))->acquire('stopped', 60);
        $say($lease->fencingToken);
        $hear();
        $pdo = $server->pdo();
        $pdo->beginTransaction();
        $thrown = thrown_by(fn () => $server->assert($pdo, 'Lock:stopped', $lease->fencingToken));
        return [$lease->isHeld(), get_debug_type($thrown), $lease->release()];
    });
    $fence = $stopped->hear();
    $stopped->signal(SIGSTOP);
    $next = (new DistributedLock($dsn))->acquire('stopped', 60);
    holds($next->fencingToken > $fence, "$kind: after a holder that was stopped");
    $stopped->signal(SIGCONT);
    $stopped->say(null);
    same([false, PDOException::class, false], $stopped->result(), "$kind: the one that was stopped");
    same(true, $next->release(), "$kind: the one after it");

    // ---- ends of requests; the database may still be busy with what they have sent ----
    $takes = [
        'lock()' => '$lock = new DistributedLock($argv[1]OPTIONS); $lock->lock($argv[2], 0);',
        'a Lease' => '$lease = (new DistributedLock($argv[1]OPTIONS))->acquire($argv[2], 0);',
        'a section' => '(new DistributedLock($argv[1]OPTIONS))->synchronized($argv[2], function () { END });',
    ];
    $ends = ['the end' => '', 'exit' => 'exit;', 'a fatal error' => 'eval("abstract class A { abstract function f(); } class B extends A {}");'];
    foreach ($takes as $take => $code) {
        foreach ($ends as $end => $ending) {
            $resource = md5("$take $end");
            $whole = str_contains($code, 'END') ? strtr($code, ['END' => $ending, 'OPTIONS' => ', ttl: 60']) : strtr($code, ['OPTIONS' => ', ttl: 60']) . $ending;
            php_child($whole, [$dsn, $resource], '-d dlock.shutdown_timeout=60')->wait();
            wait_for(fn () => $server->token("Lock:$resource") === null, 30, "$kind: $take, $end: no holder");
            holds($server->grant("Lock:$resource") !== null, "$kind: $take, $end: it was held");
        }
    }
    php_child('$kept = new DistributedLock($argv[1], releaseOnShutdown: false); $kept->lock("left", 0);', [$dsn])->wait();
    same(true, $lock->isLocked('left'), "$kind: releaseOnShutdown: false");
    $killed = php_child('$l = (new DistributedLock($argv[1], ttl: 1))->acquire("killed", 60); echo "held\n"; fgets(STDIN);', [$dsn]);
    same('held', $killed->readLine(), "$kind: one that is to be killed");
    $killed->signal(SIGKILL);
    $killed->wait();
    same(true, (new DistributedLock($dsn))->lock('killed', 60), "$kind: the lock of a process that was killed");
    wait_for(fn () => count($server->sessions()) <= 5, 60, 'sessions of processes that have ended');

    // ---- what is counted ----
    $before = Dlock\stats();
    $lock->acquire('counted', 0)->release();
    $after = Dlock\stats();
    same([1, 1, 0], array_map(fn ($name) => $after[$name] - $before[$name], ['acquisitions', 'releases', 'connections']), "$kind: stats()");
    within(1, $after['renewals'], 1000, "$kind: renewals");
}
echo "done\n";
?>
--EXPECT--
done
