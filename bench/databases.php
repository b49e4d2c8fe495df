#!/usr/bin/env php
<?php
/* Locks in databases beside what else locks there, on private servers on this machine: what a pair costs, how a lock is handed over, and what waiting
 * sends. Needs the extension, pdo_pgsql, pdo_mysql; symfony/lock where it is installed.
 *
 *   php -d extension=build/ext/modules/dlock.so bench/databases.php [SECONDS]     SECONDS for each figure (default: 3)
 */
declare(strict_types=1);

require __DIR__ . '/../tests/inc/database.inc';

$seconds = (float) ($argv[1] ?? 3);

/** Of calls of each in that time, by turns, so that what else the machine does hits all of them: the median in µs, and the server's CPU in µs.
 *  @param array<string, callable> $ways @return array<string, array{float, float}> */
function measure(array $ways, PrivateDatabase $server, float $seconds): array
{
    $times = array_fill_keys(array_keys($ways), []);
    $cpu = array_fill_keys(array_keys($ways), 0.0);
    foreach ($ways as $do) {
        for ($i = 0; $i < 50; $i++) {
            $do();
        }
    }
    $end = now() + $seconds * count($ways);
    while (now() < $end) {
        foreach ($ways as $name => $do) {
            $before = server_cpu($server);
            for ($i = 0; $i < 50; $i++) {
                $start = hrtime(true);
                $do();
                $times[$name][] = hrtime(true) - $start;
            }
            $cpu[$name] += server_cpu($server) - $before;
        }
    }
    array_walk($times, fn (&$of) => sort($of));
    return array_map(fn ($of, $cpu) => [$of[intdiv(count($of), 2)] / 1000, $cpu / count($of) * 1e6], array_combine(array_keys($times), $times), $cpu);
}

/** Seconds of CPU that the server's processes have taken so far. */
function server_cpu(PrivateDatabase $server): float
{
    $ticks = 0;
    foreach (glob('/proc/[0-9]*/stat') as $file) {
        $text = (string) @file_get_contents($file);
        $fields = explode(' ', substr($text, (int) strrpos($text, ')') + 2));
        $pid = (int) basename(dirname($file));
        if ($pid === $server->pid() || (int) ($fields[1] ?? 0) === $server->pid()) {
            $ticks += $fields[11] + $fields[12];
        }
    }
    return $ticks / 100;
}

/** Processes that take turns at one lock, in sections of 1 ms. @return array{float, int, int} the median hand-over in ms, the least and the most turns of one */
function turns(string $dsn, int $processes, float $seconds): array
{
    $until = now() + 1 + $seconds;
    $file = tempnam(sys_get_temp_dir(), 'turns');
    $children = [];
    for ($i = 0; $i < $processes; $i++) {
        $children[] = fork_child(function () use ($dsn, $until, $file, $seconds) {
            $lock = new DistributedLock($dsn, ttl: 10);
            $stream = fopen($file, 'c+');
            $gaps = [];
            $turns = 0;
            while (now() < $until) {
                $lease = $lock->acquire('turns', 60);
                $before = (float) stream_get_contents($stream, offset: 0);
                if (now() > $until - $seconds) {
                    $turns++;
                    $before > 0 && $gaps[] = now() - $before;
                }
                usleep(1000);
                rewind($stream);
                fwrite($stream, sprintf('%.7f', now()));
                $lease->release();
            }
            return [$turns, $gaps];
        });
    }
    $results = array_map(fn ($child) => $child->result(), $children);
    unlink($file);
    $gaps = array_merge(...array_column($results, 1));
    sort($gaps);
    return [$gaps[intdiv(count($gaps), 2)] * 1000, min(array_column($results, 0)), max(array_column($results, 0))];
}

/** Statements a second for each of so many that wait. */
function statements_of_waiters(PrivateDatabase $server, string $dsn, int $processes, float $seconds): float
{
    $lease = (new DistributedLock($dsn, ttl: 200, renew: false))->acquire('waited', 0);
    $children = array_map(fn () => fork_child(fn () => (new DistributedLock($dsn, ttl: 10))->tryAcquire('waited', 100.0), [], 'kill'), range(1, $processes));
    wait_for(fn () => count($server->waiters('Lock:waited')) === $processes, 60, 'all to wait');
    pause(3);
    $before = $server->statements();
    $start = now();
    pause($seconds);
    $count = $server->statements() - $before - 3;
    $rate = $count / (now() - $start) / $processes;
    array_map(fn ($child) => $child->kill(), $children);
    return $rate;
}

@include 'Symfony/Component/Lock/autoload.php';
$databases = ['pgsql' => new PrivatePostgres(['fsync' => 'on', 'max_connections' => '150']),
    'mysql' => new PrivateMariaDb(['innodb_flush_log_at_trx_commit' => '1', 'max_connections' => '300',
        'innodb_log_file_size' => '96M', 'innodb_buffer_pool_size' => '128M'])];
foreach ($databases as $kind => $server) {
    $dsn = $server->dsn('create=1&guard=300&read_timeout=10');
    $lock = new DistributedLock($dsn, ttl: 10);
    $pdo = $server->pdo();
    $pdo->exec('CREATE TABLE bench (id INT PRIMARY KEY, n INT)');
    $pdo->exec('INSERT INTO bench VALUES (1, 0)');
    $run = fn (string $sql) => $pdo->query($sql)->fetchAll();
    $ways = [
        'dlock' => fn () => $lock->acquire('pair', 0)->release(),
        '2 x SELECT 1' => fn () => [$run('SELECT 1'), $run('SELECT 1')],
        $kind === 'pgsql' ? 'advisory lock' : 'GET_LOCK' => $kind === 'pgsql' ? fn () => [$run('SELECT pg_advisory_lock(1)'), $run('SELECT pg_advisory_unlock(1)')]
            : fn () => [$run("SELECT GET_LOCK('pair', 0)"), $run("SELECT RELEASE_LOCK('pair')")],
        'SELECT FOR UPDATE' => fn () => [$pdo->beginTransaction(), $run('SELECT n FROM bench WHERE id = 1 FOR UPDATE'), $pdo->commit()],
        'two one-row updates' => fn () => [$pdo->exec('UPDATE bench SET n = n + 1 WHERE id = 1'), $pdo->exec('UPDATE bench SET n = n + 1 WHERE id = 1')],
    ];
    if (class_exists(Symfony\Component\Lock\LockFactory::class)) {
        $store = $kind === 'pgsql' ? new Symfony\Component\Lock\Store\PostgreSqlStore($pdo) : new Symfony\Component\Lock\Store\PdoStore($pdo);
        $kind === 'pgsql' || $store->createTable();
        $factory = new Symfony\Component\Lock\LockFactory($store);
        $ways['Symfony ' . (new ReflectionClass($store))->getShortName()] = function () use ($factory) {
            $one = $factory->createLock('pair');
            $one->acquire() || throw new RuntimeException('not free');
            $one->release();
        };
    }
    echo "$kind: acquire and release\n";
    foreach (array_combine(array_keys($ways), measure($ways, $server, $seconds)) as $name => [$median, $cpu]) {
        printf("  %-24s %8.0f µs, %6.0f µs of the server's CPU\n", $name, $median, $cpu);
    }
    echo "$kind: hand-over, sections of 1 ms\n";
    foreach ([2, 20] as $processes) {
        printf("  %3d processes: %6.2f ms (median), turns of each %d to %d\n", $processes, ...turns($dsn, $processes, max($seconds, 5)));
    }
    printf("%s: 100 wait: %.2f statements a second for each\n", $kind, statements_of_waiters($server, $dsn, 100, 10));
}
