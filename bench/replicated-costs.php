<?php
/* What replicas cost that confirm locks: 1,000 names over all slots of a cluster after its masters were replaced; a
 * lock that one replica confirms, compared with a plain one; and a plain one, compared with that of another build. All
 * sides of a ratio take turns.
 *
 *   replicated-costs.php ROUNDS MODULE [BEFORE]
 *   replicated-costs.php lock ADDRESS COUNT
 *
 * The second form is for its own use: it acquires and releases a lock COUNT times, and prints the µs of CPU for each.
 */
declare(strict_types=1);

require_once __DIR__ . '/../tests/inc/replicated.inc';
require_once __DIR__ . '/figures.php';

const GUARD = 5.0, NAMES = 1000, SECTIONS = 2000;

/**
 * Both locks take turns, because a busy machine changes from moment to moment.
 * @return float the median time of the confirmed lock, divided by that of the plain one
 */
function ratio(string $plain, string $confirmed): float
{
    $took = [[], []];
    $locks = array_map(fn ($dsn) => new DistributedLock($dsn, ttl: GUARD), [$plain, $confirmed]);
    array_map(fn ($locks) => $locks->acquire('alone', 60)->release(), $locks);
    for ($i = 0; $i < 2 * SECTIONS; $i++) {
        $begun = hrtime(true);
        $locks[$i % 2]->acquire('alone')->release();
        $took[$i % 2][] = hrtime(true) - $begun;
    }
    return median($took[1]) / median($took[0]);
}

/** @return float µs of the CPU of client and server for each plain lock */
function cpu_of_locks(string $address, int $count): float
{
    $locks = new DistributedLock("redis://$address", ttl: GUARD);
    $locks->acquire('alone', 60)->release();
    $redis = new RedisRaw($address);
    $theirs = function () use ($redis) {
        $info = redis_info($redis, 'cpu');
        return $info['used_cpu_sys'] + $info['used_cpu_user'];
    };
    $cpu = own_cpu() + $theirs();
    for ($i = 0; $i < $count; $i++) {
        $locks->acquire('alone')->release();
    }
    return (own_cpu() + $theirs() - $cpu) / $count * 1e6;
}

/** Measures that build in a process of its own. */
function cpu_with(string $module, string $address): float
{
    $options = array_merge(...array_map(fn ($name) => extension_loaded($name) && file_exists(ini_get('extension_dir') . "/$name.so")
        ? ['-d', "extension=$name"] : [], ['posix', 'pcntl']));
    exec(implode(' ', array_map(escapeshellarg(...), [PHP_BINARY, '-n', ...$options, '-d', "extension=$module", __FILE__, 'lock', $address, (string) SECTIONS])), $lines, $status);
    $status === 0 || throw new RuntimeException(implode("\n", $lines));
    return (float) $lines[0];
}

function own_cpu(): float
{
    $usage = getrusage();
    return $usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec'] + ($usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec']) / 1e6;
}

/** @param list<ReplicatedRedis> $servers @return float s of the CPU that they and this process have used */
function cpu(array $servers): float
{
    $theirs = fn (ReplicatedRedis $server) => (float) $server->info('cpu')['used_cpu_sys'] + (float) $server->info('cpu')['used_cpu_user'];
    return own_cpu() + array_sum(array_map($theirs, $servers));
}

/**
 * Acquires and releases a lock of each name, in slots all over the cluster.
 * @return array{float, float} s for all, and s of the CPU of this process and all servers
 */
function take_names(ClusterSet $set, array $options): array
{
    $locks = new DistributedLock($set->dsn($options), ttl: GUARD);
    $cpu = cpu($set->servers);
    $begun = hrtime(true);
    for ($i = 0; $i < NAMES; $i++) {
        $locks->acquire("name $i", 60)->release();
    }
    return [(hrtime(true) - $begun) / 1e9, cpu($set->servers) - $cpu];
}

/** If the other nodes are slow, a replica gives up, and is asked again. */
function replace_master(ClusterSet $set, ReplicatedRedis $old): void
{
    $replica = $set->replicaOf($old);
    $asked = -INF;
    wait_for(function () use ($replica, &$asked) {
        if (now() - $asked > 6) {
            $asked = now();
            $replica->raw()->cmd('CLUSTER', 'FAILOVER');
        }
        return $replica->isMaster();
    }, 120, 'the replica to be the master');
}

/**
 * @return list<list<array{float, float}>> for all names: after all masters were replaced, again at once, and with
 * replicas=0
 */
function names_after_switches(int $rounds): array
{
    $set = new ClusterSet(timeout: 3000); // masters vote for a shard once within twice that time
    $after = $again = $plain = [];
    take_names($set, ['guard' => GUARD]);
    for ($i = 0; $i < $rounds; $i++) {
        pause(GUARD + 2); // so that all nodes have been up for the guard
        array_map(fn ($master) => replace_master($set, $master), $set->masters());
        $set->waitUntilWell(60);
        $after[] = take_names($set, ['guard' => GUARD]);
        $again[] = take_names($set, ['guard' => GUARD]);
        $plain[] = take_names($set, ['replicas' => 0]);
    }
    return [$after, $again, $plain];
}

function say(string $what, array $values, string $bar = ''): void
{
    printf("%-66s %8.2f %8.2f %8.2f   %s\n", $what, median($values), min($values), max($values), $bar);
}

if ($argv[1] === 'lock') {
    echo cpu_of_locks($argv[2], (int) $argv[3]), "\n";
    exit;
}
[, $rounds, $module] = $argv;
$before = $argv[3] ?? null;
$master = new ReplicatedRedis(['save ""', 'appendonly no', 'repl-diskless-sync-delay 0']);
$replica = new ReplicatedRedis(['save ""', 'appendonly no', 'repl-diskless-sync-delay 0']);
$replica->follow($master);
$plain = "redis://{$master->address()}";
$ratios = $others = [];
for ($i = 0; $i < (int) $rounds; $i++) {
    $ratios[] = ratio($plain, "$plain?replicas=1&guard=" . GUARD);
    if ($before !== null) {
        $others[] = cpu_with($module, $master->address()) / cpu_with($before, $master->address());
    }
}
[$after, $again, $alone] = names_after_switches((int) $rounds);
printf("%-66s %8s %8s %8s\n", "of $rounds rounds", 'median', 'least', 'most');
foreach (['after all three masters were replaced' => $after, 'again' => $again, 'with replicas=0' => $alone] as $what => $rows) {
    say("1,000 names over all slots, $what, s", array_column($rows, 0), $rows === $after ? 'bar 1.00' : '');
    say('  of the CPU, of client and servers', array_column($rows, 1));
}
say('a lock that one replica confirms, to a plain one', $ratios, 'bar 1.40');
$others === [] || say('a plain one, to that of the other build, CPU of client and server', $others, 'bar 1.00');
