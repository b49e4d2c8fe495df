<?php
/* Locks in databases, compared with the databases' own locks and Symfony's, on private servers on this machine: what a
 * pair costs, how long a handover takes, and what waiters send. scripts/bench-databases.sh runs it. It needs the
 * extension, pdo_pgsql and pdo_mysql, and uses symfony/lock if that is installed.
 *
 *   bench/databases.php ROUNDS SECONDS FILE
 *
 * SECONDS is the time for each figure of a round. The data are written to FILE.
 */
declare(strict_types=1);

require __DIR__ . '/../tests/inc/database.inc';
require __DIR__ . '/plan.php';

/** Measures all ways by turns, so that other load on the machine affects each of them.
 * @param array<string, callable> $ways
 * @return array<string, array{us: float, server_us: float}> by way: the median time and the server's CPU time, in µs */
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
    $figures = [];
    foreach ($times as $name => $of) {
        $figures[$name] = ['us' => median($of) / 1000, 'server_us' => $cpu[$name] / count($of) * 1e6];
    }
    return $figures;
}

/** Seconds of CPU that the server's processes have used so far. */
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

/** Makes locks of Symfony's store for that database. */
function symfony(PrivateDatabase $server): Symfony\Component\Lock\LockFactory
{
    $pdo = $server->pdo();
    return new Symfony\Component\Lock\LockFactory($server instanceof PrivatePostgres ? new Symfony\Component\Lock\Store\PostgreSqlStore($pdo) : new Symfony\Component\Lock\Store\PdoStore($pdo));
}

/** Repeats the call: PdoStore does not, after a deadlock in MySQL. */
function again(callable $do): void
{
    for (;;) {
        try {
            $do();
            return;
        } catch (Symfony\Component\Lock\Exception\ExceptionInterface) {
        }
    }
}

/**
 * @return array<string, callable(PrivateDatabase): callable(): callable> by name: connects, and returns a function that
 * waits for the lock and returns what releases it
 */
function ways_to_wait(): array
{
    $ways = ['dlock' => function (PrivateDatabase $server) {
        $lock = new DistributedLock($server->dsn(OPTIONS), ttl: 10);
        return fn () => $lock->acquire('turns', 60)->release(...);
    }];
    if (class_exists(Symfony\Component\Lock\LockFactory::class)) {
        $ways['Symfony'] = function (PrivateDatabase $server) {
            $factory = symfony($server);
            return function () use ($factory) {
                $lock = $factory->createLock('turns', 10);
                again(fn () => $lock->acquire(true));
                return fn () => again($lock->release(...));
            };
        };
    }
    return $ways;
}

/**
 * Processes acquire one lock in turns, in sections of 1 ms.
 * @return array{handover_ms: ?float, least: int, most: int} the median handover, and the least and the most turns of a
 * process
 */
function turns(PrivateDatabase $server, callable $way, int $processes, float $seconds): array
{
    $until = now() + 1 + $processes / 20 + $seconds; // by then, all processes wait
    $file = tempnam(sys_get_temp_dir(), 'turns');
    $children = [];
    for ($i = 0; $i < $processes; $i++) {
        $children[] = fork_child(function () use ($server, $way, $until, $file, $seconds) {
            $acquire = $way($server);
            $stream = fopen($file, 'c+');
            $gaps = [];
            $turns = 0;
            while (now() < $until) {
                $release = $acquire();
                $before = (float) stream_get_contents($stream, offset: 0);
                if (now() > $until - $seconds) {
                    $turns++;
                    $before > 0 && $gaps[] = now() - $before;
                }
                usleep(1000);
                rewind($stream);
                fwrite($stream, sprintf('%.7f', now()));
                $release();
            }
            return [$turns, $gaps];
        }, [], 'kill');
    }
    $results = array_map(fn ($child) => $child->result(300), $children);
    unlink($file);
    $gaps = array_merge(...array_column($results, 1));
    sort($gaps);
    return ['handover_ms' => $gaps ? median($gaps) * 1000 : null, 'least' => min(array_column($results, 0)), 'most' => max(array_column($results, 0))];
}

/** Statements per second and waiter. */
function statements_of_waiters(PrivateDatabase $server, int $processes, float $seconds): float
{
    static $round = 0;
    $dsn = $server->dsn(OPTIONS);
    $name = 'waited ' . ++$round; // killed waiters stay in their queue for a while
    $lease = (new DistributedLock($dsn, ttl: 200, renew: false))->acquire($name, 0);
    $children = array_map(fn () => fork_child(fn () => (new DistributedLock($dsn, ttl: 10))->tryAcquire($name, 100.0), [], 'kill'), range(1, $processes));
    wait_for(fn () => count($server->waiters("Lock:$name")) === $processes, 60, 'all to wait');
    pause(3);
    $before = $server->statements();
    $start = now();
    pause($seconds);
    $count = $server->statements() - $before - 3;
    $rate = $count / (now() - $start) / $processes;
    array_map(fn ($child) => $child->kill(), $children);
    return $rate;
}

/** Pairs of acquire and release, by name. @return array<string, callable> */
function pairs(string $kind, PrivateDatabase $server): array
{
    $lock = new DistributedLock($server->dsn(OPTIONS), ttl: 10);
    $pdo = $server->pdo();
    $run = fn (string $sql) => $pdo->query($sql)->fetchAll();
    $update = fn () => $pdo->exec('UPDATE bench SET n = n + 1 WHERE id = 1');
    $ways = [
        'dlock' => fn () => $lock->acquire('pair', 0)->release(),
        'two SELECT 1' => fn () => [$run('SELECT 1'), $run('SELECT 1')],
        'advisory lock' => $kind === 'pgsql' ? fn () => [$run('SELECT pg_advisory_lock(1)'), $run('SELECT pg_advisory_unlock(1)')]
            : fn () => [$run("SELECT GET_LOCK('pair', 0)"), $run("SELECT RELEASE_LOCK('pair')")],
        'FOR UPDATE' => fn () => [$pdo->beginTransaction(), $run('SELECT n FROM bench WHERE id = 1 FOR UPDATE'), $pdo->commit()],
        'two updates' => fn () => [$update(), $update()],
    ];
    if (class_exists(Symfony\Component\Lock\LockFactory::class)) {
        $factory = symfony($server);
        $ways['Symfony'] = function () use ($factory) {
            $one = $factory->createLock('pair');
            $one->acquire() || throw new RuntimeException('not free');
            $one->release();
        };
    }
    return $ways;
}

/**
 * @return array{pairs: array<string, array{us: float, server_us: float}>, turns: array<string, array<int, array<string,
 * mixed>>>, statements: float}
 */
function one_round(string $kind, PrivateDatabase $server, float $seconds): array
{
    $pairs = measure(pairs($kind, $server), $server, $seconds);
    $turns = [];
    foreach (DATABASES['processes'] as $processes) {
        foreach (ways_to_wait() as $name => $way) {
            $turns[$name][$processes] = turns($server, $way, $processes, max(2, $seconds));
            printf("%s: %s, %d processes: %s ms, turns of each %d to %d\n", $kind, $name, $processes, sprintf('%.2f', $turns[$name][$processes]['handover_ms'] ?? NAN),
                $turns[$name][$processes]['least'], $turns[$name][$processes]['most']);
        }
    }
    return ['pairs' => $pairs, 'turns' => $turns, 'statements' => statements_of_waiters($server, DATABASES['waiting'], max(2, $seconds))];
}

/** The medians of the same figures in all rounds. @param list<mixed> $rounds */
function medians_of(array $rounds): mixed
{
    if (!is_array($rounds[0])) {
        return ($median = median(array_filter($rounds, fn ($value) => $value !== null))) === null ? null : round($median, 4);
    }
    $medians = [];
    foreach (array_keys($rounds[0]) as $key) {
        $medians[$key] = medians_of(array_column($rounds, $key));
    }
    return $medians;
}

/**
 * Judges the claims of plan.php.
 * @param array<string, list<array<string, mixed>>> $rounds by database
 * @return list<array<string, mixed>>
 */
function judged(array $rounds): array
{
    $claims = [];
    foreach (DATABASES['claims'] as [$claim, $kinds, $processes, $relation, $bar, $value]) {
        foreach ($kinds as $kind => $name) {
            $values = array_map($value, $rounds[$kind]);
            $values = array_values(array_filter($values, fn ($value) => $value !== null));
            $claims[] = ['claim' => "$name: $claim", 'processes' => $processes, 'measured' => $values ? round(median($values), 4) : null, 'low' => $values ? round(min($values), 4) : null,
                'high' => $values ? round(max($values), 4) : null, 'bare_c' => null, 'relation' => $relation, 'bar' => is_array($bar) ? $bar[$kind] : $bar, 'aim' => null];
        }
    }
    return $claims;
}

const OPTIONS = 'create=1&guard=600&connect_timeout=60&read_timeout=60';

[, $count, $seconds, $file] = $argv + [1 => '3', '2', '/dev/stdout'];
@include 'Symfony/Component/Lock/autoload.php';
$began = now();
$databases = ['pgsql' => new PrivatePostgres(['fsync' => 'on', 'max_connections' => '150']),
    'mysql' => new PrivateMariaDb(['innodb_flush_log_at_trx_commit' => '1', 'max_connections' => '300',
        'innodb_log_file_size' => '96M', 'innodb_buffer_pool_size' => '128M'])];
foreach ($databases as $kind => $server) {
    (new DistributedLock($server->dsn(OPTIONS)))->isLocked('pair');
    $server->query('CREATE TABLE bench (id INT PRIMARY KEY, n INT)');
    $server->query('INSERT INTO bench VALUES (1, 0)');
    $kind !== 'mysql' || !class_exists(Symfony\Component\Lock\LockFactory::class) || (new Symfony\Component\Lock\Store\PdoStore($server->pdo()))->createTable();
}
$rounds = [];
for ($round = 0; $round < $count; $round++) {
    foreach ($databases as $kind => $server) {
        $rounds[$kind][] = one_round($kind, $server, (float) $seconds);
    }
}
$commit = trim((string) shell_exec('git describe --always --dirty 2> /dev/null'));
ini_set('serialize_precision', '-1');
file_put_contents($file, json_encode(['date' => date('Y-m-d'), 'took' => (int) (now() - $began), 'rounds' => (int) $count, 'commit' => $commit, 'versions' => [
    'pgsql' => strtok($databases['pgsql']->query('SHOW server_version')[0]['server_version'], ' '),
    'mysql' => strtok($databases['mysql']->query('SELECT VERSION() AS v')[0]['v'], '-'),
    'Symfony Lock' => trim((string) shell_exec("dpkg-query -W -f '\${Version}' php-symfony-lock 2> /dev/null")),
], 'medians' => array_map(medians_of(...), $rounds), 'claims' => judged($rounds)], JSON_PRETTY_PRINT | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES) . "\n");
foreach (judged($rounds) as ['claim' => $claim, 'processes' => $processes, 'measured' => $measured, 'relation' => $relation, 'bar' => $bar]) {
    printf("%s (%s): %s%s\n", $claim, $processes, $measured === null ? 'not measured' : sprintf('%.2f', $measured), $bar === null ? '' : ", bar $relation $bar");
}
