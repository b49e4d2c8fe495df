--TEST--
databases: a waiter that was passed over queues behind the one that was served, and the next release finds it; a release that cannot hand over yet tells the waiter
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

foreach (private_databases() as $kind => $server) {
    (new DistributedLock($server->dsn()))->isLocked('r');
    [$holder, $late, $next] = [$server->pdo(), $server->pdo(), $server->pdo()];
    in_time(3, function (int $number) use ($kind, $server, $holder, $late, $next) { // until then a waiter counts as alive
        $name = "r$number";
        holds($server->ask($holder, $name, 'holder', '')['fence'] > 0, "$kind: the holder");
        ['ticket' => $ticket] = $server->ask($late, $name, 'late', 'inbox');
        ['ticket' => $served] = $server->ask($next, $name, 'next', 'inbox');
        holds(0 < $ticket && $ticket < $served, "$kind: the queue", $ticket, $served);
        $server->silence($name, 'late');
        $server->takeAway($name);

        // It is the first to ask after the lease, and is refused: the lock goes to the waiter that is alive.
        ['fence' => $fence, 'ticket' => $ticket] = $server->ask($late, $name, 'late', 'inbox', $ticket);
        same([0, 'next', ['late']], [$fence, $server->token($name), array_column($server->waiters($name), 'token')], "$kind: handed over");
        holds($ticket > $served, "$kind: it queues anew", $ticket, $served);
        same([2, 'late'], [$server->give($next, $name, 'next'), $server->token($name)], "$kind: the next release");
        same([1, null], [$server->give($late, $name, 'late'), $server->token($name)], "$kind: the last release");
    });

    // PostgreSQL tells by a notification. 0: the waiter is to ask.
    if ($kind === 'pgsql') {
        $server->ask($holder, 'r', 'holder', '');
        $server->ask($next, 'r', 'next', 'inbox');
        $next->exec('LISTEN inbox');
        $server->query("UPDATE dlock.era SET settles = settles + interval '1 hour'");
        same(1, $server->give($holder, 'r', 'holder'), 'a release before locks are granted');
        same('next 7 0', $next->pgsqlGetNotify(PDO::FETCH_ASSOC, 60000)['payload'] ?? null, 'the notification');
    }
}
echo "done\n";
?>
--EXPECT--
done
