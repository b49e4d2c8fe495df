<?php
/* What is measured, in which order, and what is expected of it. */
declare(strict_types=1);

/** The ways of bench/limit.c, by their names in tables: [the name there, the number of Redis servers; 0: ZooKeeper]. */
const LIMITS = [
    'C: pair' => ['pair', 1],
    'C: quorum' => ['quorum', 5],
    'C: in turn' => ['in-turn', 5],
    'C: ZooKeeper' => ['zookeeper', 0],
    'C: direct' => ['direct', 1],
    'C: race' => ['race', 1],
];

/** As RedLock, while the third of the five servers is stopped (SIGSTOP). */
const ONE_STOPPED = 'RedLock, one of five stopped';

/** The same ways with all five servers on the client's CPU, by their names in tables. */
const ON_ONE_CPU = ['C: quorum, one CPU' => 'C: quorum', 'RedLock, one CPU' => 'RedLock'];

/**
 * "alone": acquire and release by a single client. The rounds, and in each the sections of no length for each way:
 * `one_server` for ways with one server, which are quick, `sections` for all other ways.
 */
const ALONE = [
    'short' => ['rounds' => 3, 'one_server' => 1000, 'sections' => 300],
    'full' => ['rounds' => 11, 'one_server' => 3000, 'sections' => 600],
    'ways' => [
        'C: pair', 'C: direct', 'DistributedLock', 'phpredis by hand', 'predis by hand', 'Symfony Lock', 'SETNX class',
        'C: quorum, one CPU', 'RedLock, one CPU', 'C: quorum', 'RedLock', ONE_STOPPED, 'C: in turn', 'Redlock class',
        'C: ZooKeeper', 'ZkLock',
    ],
    // In these ways, client and server only ever wait for each other, so both are on one CPU. Otherwise the scheduler
    // might have to wake a sleeping CPU, which takes longer than the lock.
    'one_cpu' => ['C: pair', 'C: direct', 'DistributedLock', 'phpredis by hand', 'predis by hand', 'Symfony Lock', 'SETNX class',
        'C: quorum, one CPU', 'RedLock, one CPU'],
];

/**
 * "apart": clients of one server, each with a lock of its own, so that no client waits: what the server's core bears.
 * The server stays on one CPU, and the scheduler places the clients.
 */
const APART = [
    'processes' => 20,
    'short' => ['rounds' => 2, 'sections' => 4000],
    'full' => ['rounds' => 5, 'sections' => 10000],
    'ways' => ['C: pair', 'DistributedLock', 'phpredis by hand'],
];

/** "far": as "alone", over a network that adds this time to a round trip. */
const FAR = [
    'round_trip_us' => 2000,
    'short' => ['rounds' => 2, 'sections' => 40],
    'full' => ['rounds' => 5, 'sections' => 60],
    'ways' => ['C: quorum', 'RedLock', 'C: in turn', 'Redlock class'],
];

/**
 * Many processes under one lock, sections of 1 ms: the rounds, the numbers of processes, and the sections of each run,
 * but at least `least` for each process. Except for ZooKeeper, clients and servers are on one CPU, as above.
 */
const TOGETHER = [
    'us' => 1000,
    'short' => [
        ['ways' => ['C: direct', 'DistributedLock', 'Semaphore'], 'rounds' => 2, 'processes' => [2, 20, 200], 'sections' => 600, 'least' => 3],
        ['ways' => ['RedLock'], 'rounds' => 2, 'processes' => [2, 20], 'sections' => 300, 'least' => 3],
        ['ways' => ['ZkLock'], 'rounds' => 1, 'processes' => [2, 20], 'sections' => 300, 'least' => 3],
        ['ways' => ['C: race', 'phpredis by hand', 'Symfony Lock', 'SETNX class', 'Redlock class'],
            'rounds' => 1, 'processes' => [20], 'sections' => 200, 'least' => 3],
    ],
    'full' => [
        ['ways' => ['Semaphore'], 'rounds' => 3, 'processes' => [2, 20], 'sections' => 1000, 'least' => 5],
        ['ways' => ['C: direct', 'DistributedLock'], 'rounds' => 3, 'processes' => [2, 10, 20, 50, 100, 200], 'sections' => 1000, 'least' => 5],
        ['ways' => ['RedLock'], 'rounds' => 3, 'processes' => [2, 10, 20, 50, 200], 'sections' => 400, 'least' => 4],
        ['ways' => ['ZkLock'], 'rounds' => 2, 'processes' => [2, 10, 50, 200], 'sections' => 400, 'least' => 4],
        ['ways' => ['C: race', 'phpredis by hand'], 'rounds' => 1, 'processes' => [2, 10, 50, 200], 'sections' => 400, 'least' => 4],
        ['ways' => ['Symfony Lock', 'SETNX class', 'Redlock class'], 'rounds' => 1, 'processes' => [2, 10, 50, 200], 'sections' => 300, 'least' => 3],
    ],
];

/**
 * Servers with replicas (replicated.php), compared with one without. "replicated": as "alone", with all servers on the
 * client's CPU. "hosts apart": the same over a network that adds `round_trip_us` to a round trip, also to the replica.
 * "replicated, together": `processes` processes under one lock.
 */
const REPLICATED = [
    'round_trip_us' => 500,
    'processes' => 20,
    'short' => ['rounds' => 3, 'sections' => 1000, 'far_sections' => 100, 'together_rounds' => 1, 'together_sections' => 300],
    'full' => ['rounds' => 11, 'sections' => 3000, 'far_sections' => 300, 'together_rounds' => 3, 'together_sections' => 1000],
    'ways' => ['DistributedLock', 'DistributedLock, with a replica', 'DistributedLock, replicas=1', 'DistributedLock, cluster, replicas=0', 'DistributedLock, cluster'],
    'far_ways' => ['DistributedLock', 'DistributedLock, with a replica', 'DistributedLock, replicas=1'],
];

/**
 * "sale": `requests` requests for `units` units, over `connections` connections at once (crowd.c), or from `processes`
 * processes ("PHP"). Each connection or process makes one request after the other.
 * "holders N": acquire and release of a semaphore that has a free permit and N holders.
 * "readers": readers and writers of one resource, sections of no length.
 * All are on one Redis server.
 */
const PERMITS = [
    'units' => 1000, 'connections' => 50, 'processes' => 20, 'abandoned_ttl' => 50, 'readers' => 180, 'writers' => 20,
    'short' => ['rounds' => 2, 'requests' => 20000, 'php_requests' => 2000, 'pairs' => 2000, 'seconds' => 2],
    'full' => ['rounds' => 5, 'requests' => 100000, 'php_requests' => 4000, 'pairs' => 5000, 'seconds' => 5],
    'sale' => ['bare counter', 'Stock', 'Stock, sold out', 'Stock, 90 % abandoned', 'Stock, PHP', 'DistributedLock, PHP'],
    'holders' => [0, 1, 100, 10000],
    'semaphores' => ['Semaphore', 'Redisson\'s commands'],
    'together' => ['ways' => ['DistributedLock', 'Semaphore'], 'rounds' => 3, 'processes' => [2, 20], 'sections' => 600, 'least' => 3],
    'all' => ['bare counter', 'Stock', 'Stock, sold out', 'Stock, 90 % abandoned', 'Stock, PHP', 'DistributedLock, PHP', 'Semaphore', 'Redisson\'s commands', 'ReadWriteLock',
        'ReadWriteLock, fifo'],
    'readers_ways' => ['ReadWriteLock', 'ReadWriteLock, fifo', 'DistributedLock'],
];

/** How many Redis servers without replicas a way uses. */
function servers_of(string $way): int
{
    $way = ON_ONE_CPU[$way] ?? $way;
    return match (true) {
        isset(LIMITS[$way]) => LIMITS[$way][1],
        in_array($way, ['RedLock', ONE_STOPPED, 'Redlock class'], true) => 5,
        $way !== 'DistributedLock' && in_array($way, REPLICATED['ways'], true) => 0,
        default => $way === 'ZkLock' ? 0 : 1,
    };
}

/** How many processes wait and for how long, while their commands are counted. */
const WAITING = [
    'short' => ['processes' => 40, 'seconds' => 3, 'ways' => ['DistributedLock', 'phpredis by hand']],
    'full' => ['processes' => 100, 'seconds' => 10,
        'ways' => ['DistributedLock', 'RedLock', 'ZkLock', 'phpredis by hand', 'Symfony Lock', 'SETNX class', 'Redlock class']],
];

/**
 * "request": requests to php-fpm. The rounds, and in each round the requests of each way with a lock after a worker's
 * first one. Client, worker and Redis servers are all on one CPU, as above, so the time is the CPU time of all of them.
 */
const PER_REQUEST = [
    'short' => ['rounds' => 3, 'requests' => 10],
    'full' => ['rounds' => 11, 'requests' => 40],
    'ways' => [
        'DistributedLock', 'RedLock', 'ZkLock', 'phpredis by hand, pconnect', 'phpredis by hand', 'predis by hand', 'Symfony Lock',
        'SETNX class', 'Redlock class',
    ],
];

/** With these numbers of processes, a wait is so long that one interruption by the machine does not double it. */
const MANY = [10, 20, 50, 100, 200];

/**
 * What is claimed: the ratio of two figures in the same round, mostly of two ways; the median of the rounds counts.
 * [what it is, a word like 'alone', or processes (several: those of them that were measured; null: all that were),
 * figure, way, figure, way, '<=' or '>=', bar or null (shown, not judged), aim or null]. The second figure may name
 * other processes than the first: 'sections_per_s@2'. If a way is compared with itself, the same ratio of bare C is
 * shown beside it.
 */
const CLAIMS = [
    ['uncontended, one Redis, to phpredis by hand', 'alone', 'pair_p50', 'DistributedLock', 'pair_p50', 'phpredis by hand', '<=', 1.2, null],
    ['uncontended, one Redis, to bare C', 'alone', 'pair_p50', 'DistributedLock', 'pair_p50', 'C: pair', '<=', 1.25, 1.15],
    ['uncontended, one Redis, to bare C with a queue', 'alone', 'pair_p50', 'DistributedLock', 'pair_p50', 'C: direct', '<=', null, null],
    ['uncontended, one Redis, to Symfony Lock', 'alone', 'pair_p50', 'DistributedLock', 'pair_p50', 'Symfony Lock', '<=', 0.4, null],
    ['server CPU for each lock, to phpredis by hand', 'alone', 'server_us', 'DistributedLock', 'server_us', 'phpredis by hand', '<=', 1.3, null],
    ['locks per second of the server\'s CPU time, to phpredis by hand', 'apart', 'per_core_s', 'DistributedLock', 'per_core_s', 'phpredis by hand', '>=', 0.8, null],
    ['locks per second, to phpredis by hand', 'apart', 'sections_per_s', 'DistributedLock', 'sections_per_s', 'phpredis by hand', '>=', null, null],
    ['five Redis on one CPU, to bare C', 'alone', 'pair_p50', 'RedLock, one CPU', 'pair_p50', 'C: quorum, one CPU', '<=', 1.25, null],
    ['uncontended, five Redis, to bare C', 'alone', 'pair_p50', 'RedLock', 'pair_p50', 'C: quorum', '<=', 1.4, 1.3],
    ['uncontended, five Redis, to bare C in turn', 'alone', 'pair_p50', 'RedLock', 'pair_p50', 'C: in turn', '<=', 0.4, null],
    ['uncontended, five Redis, to the Redlock class', 'alone', 'pair_p50', 'RedLock', 'pair_p50', 'Redlock class', '<=', 0.4, null],
    ['five Redis, 2 ms away, to the Redlock class', 'far', 'pair_p50', 'RedLock', 'pair_p50', 'Redlock class', '<=', 0.25, null],
    ['five Redis, 2 ms away, to bare C', 'far', 'pair_p50', 'RedLock', 'pair_p50', 'C: quorum', '<=', null, null],
    ['one of five stopped, to healthy', 'alone', 'wait_p50', ONE_STOPPED, 'wait_p50', 'RedLock', '<=', 1.1, null],
    ['uncontended, ZooKeeper, to bare C', 'alone', 'pair_p50', 'ZkLock', 'pair_p50', 'C: ZooKeeper', '<=', 1.35, 1.2],
    ['hand-over p50, to bare C direct', null, 'handover_p50', 'DistributedLock', 'handover_p50', 'C: direct', '<=', 1.5, null],
    ['sections/s, to bare C direct', null, 'sections_per_s', 'DistributedLock', 'sections_per_s', 'C: direct', '>=', 0.95, null],
    ['sections/s, to its own with 2', null, 'sections_per_s', 'DistributedLock', 'sections_per_s@2', 'DistributedLock', '>=', 0.95, null],
    ['longest wait, to the median', 2, 'wait_max', 'DistributedLock', 'wait_p50', 'DistributedLock', '<=', null, null],
    ['longest wait, to the median', MANY, 'wait_max', 'DistributedLock', 'wait_p50', 'DistributedLock', '<=', 1.3, null],
    ['server CPU for each section, to bare C direct', null, 'server_us', 'DistributedLock', 'server_us', 'C: direct', '<=', 1.3, null],
    ['RedLock sections/s, to bare C direct', 20, 'sections_per_s', 'RedLock', 'sections_per_s', 'C: direct', '>=', 0.4, null],
    ['RedLock sections/s, to DistributedLock', 50, 'sections_per_s', 'RedLock', 'sections_per_s', 'DistributedLock', '>=', 0.5, null],
    ['RedLock longest wait, to the median', 20, 'wait_max', 'RedLock', 'wait_p50', 'RedLock', '<=', 3.0, null],
    ['a replica confirms, to a server with a replica', 'replicated', 'pair_p50', 'DistributedLock, replicas=1', 'pair_p50', 'DistributedLock, with a replica', '<=', 1.5, null],
    ['a replica confirms, to a server without', 'replicated', 'pair_p50', 'DistributedLock, replicas=1', 'pair_p50', 'DistributedLock', '<=', null, null],
    ['a replica confirms, hosts 0.5 ms apart', 'hosts apart', 'pair_p50', 'DistributedLock, replicas=1', 'pair_p50', 'DistributedLock, with a replica', '<=', null, null],
    ['a replica confirms, hand-over p50', 'replicated, together', 'handover_p50', 'DistributedLock, replicas=1', 'handover_p50', 'DistributedLock, with a replica', '<=', null, null],
    ['a cluster, to a server with a replica', 'replicated', 'pair_p50', 'DistributedLock, cluster, replicas=0', 'pair_p50', 'DistributedLock, with a replica', '<=', null, null],
    ['a cluster where a replica confirms, to one where none does', 'replicated', 'pair_p50', 'DistributedLock, cluster', 'pair_p50', 'DistributedLock, cluster, replicas=0', '<=', null, null],
    ['a semaphore of one permit, hand-over p50, to DistributedLock', [2, 20], 'handover_p50', 'Semaphore', 'handover_p50', 'DistributedLock', '<=', null, null],
    ['a semaphore of one permit, sections/s, to DistributedLock', [2, 20], 'sections_per_s', 'Semaphore', 'sections_per_s', 'DistributedLock', '>=', null, null],
    ['a sale of a stock, to one behind a mutex', 'sale', 'requests_per_s', 'Stock', 'requests_per_s', 'DistributedLock, PHP', '>=', 10.0, null],
    ['the same from PHP, one request after the other', 'sale', 'requests_per_s', 'Stock, PHP', 'requests_per_s', 'DistributedLock, PHP', '>=', null, null],
    ['a whole sale, requests per second of the server\'s CPU time, to a bare counter', 'sale', 'per_core_s', 'Stock', 'per_core_s', 'bare counter', '>=', 0.75, null],
    ['the same of requests that are refused, since all is sold', 'sale', 'per_core_s', 'Stock, sold out', 'per_core_s', 'bare counter', '>=', 0.8, null],
    ['a sale of a stock, to a bare counter', 'sale', 'requests_per_s', 'Stock', 'requests_per_s', 'bare counter', '>=', 0.45, null],
    ['a semaphore with one holder, server\'s time, to Redisson\'s commands', 'holders 1', 'pair_us', 'Semaphore', 'pair_us', 'Redisson\'s commands', '<=', 1.5, null],
    ['a semaphore with 100 holders, server\'s time, to Redisson\'s commands', 'holders 100', 'pair_us', 'Semaphore', 'pair_us', 'Redisson\'s commands', '<=', 1.5, null],
    ['a semaphore with 10,000 holders, server\'s time, to Redisson\'s commands', 'holders 10000', 'pair_us', 'Semaphore', 'pair_us', 'Redisson\'s commands', '<=', 1.5, null],
    ['a semaphore with 10,000 holders, server\'s time, to one with none', 'holders 10000', 'pair_us', 'Semaphore', 'pair_us@holders 0', 'Semaphore', '<=', 1.25, null],
    ['readers and writers, sections/s, to DistributedLock', 'readers', 'sections_per_s', 'ReadWriteLock', 'sections_per_s', 'DistributedLock', '>=', null, null],
    ['a later request to php-fpm, to phpredis with pconnect', 'request', 'later', 'DistributedLock', 'later', 'phpredis by hand, pconnect', '<=', 1.1, null],
];

/**
 * The number of connects, authentications and loaded scripts of a second or later request to php-fpm: the ways, and the
 * bar.
 */
const AGAIN_AND_AGAIN = [['DistributedLock', 'RedLock', 'ZkLock'], 0.0];

/** The most commands per process, second and server during a wait: bar, aim. */
const MOST_COMMANDS = [1.0, 0.5];

/**
 * Locks in databases, which bench/databases.php measures. A claim has a name, databases, processes, a relation, a bar,
 * and its figure in a round.
 */
define('DATABASES', (function () {
    $both = ['pgsql' => 'PostgreSQL', 'mysql' => 'MariaDB'];
    $us = fn (array $round, string $way) => $round['pairs'][$way]['us'] ?? null;
    $to = fn (string $way) => fn (array $round) => $us($round, $way) ? $us($round, 'dlock') / $us($round, $way) : null;
    $handover = fn (array $round, int $processes) => $round['turns']['dlock'][$processes]['handover_ms'];
    $to_select = fn (int $processes) => fn (array $round) => $handover($round, $processes) * 1000 / $us($round, 'two SELECT 1');
    return ['processes' => [2, 10, 20, 50], 'waiting' => 100, 'claims' => [
        ['pair, to two SELECT 1', ['pgsql' => 'PostgreSQL'], 'alone', '<=', 3, $to('two SELECT 1')],
        ['pair, to two updates of a row', ['mysql' => 'MariaDB'], 'alone', '<=', 1.5, $to('two updates')],
        ['pair, to Symfony\'s store', $both, 'alone', '<=', null, $to('Symfony')],
        ['hand-over p50, ms', $both, 2, '<=', 15, fn (array $round) => $handover($round, 2)],
        ['hand-over p50, ms', $both, 20, '<=', 15, fn (array $round) => $handover($round, 20)],
        ['hand-over p50, to two SELECT 1', $both, 2, '<=', ['pgsql' => 8, 'mysql' => 30], $to_select(2)],
        ['hand-over p50, to two SELECT 1', $both, 20, '<=', ['pgsql' => 8, 'mysql' => 30], $to_select(20)],
        ['hand-over p50, to two updates of a row', ['mysql' => 'MariaDB'], 20, '<=', null, fn (array $round) => $handover($round, 20) * 1000 / $us($round, 'two updates')],
        ['hand-over p50, to that of 2 processes', $both, 20, '<=', 2, fn (array $round) => $handover($round, 20) / $handover($round, 2)],
        ['least sections of a process, to the most', $both, 20, '>=', 0.8, fn (array $round) => $round['turns']['dlock'][20]['least'] / $round['turns']['dlock'][20]['most']],
        ['statements per second and waiter', $both, 100, '<=', 0.5, fn (array $round) => $round['statements']],
    ]];
})());
