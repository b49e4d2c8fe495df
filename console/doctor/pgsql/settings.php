<?php
/* What is in the way of locks, now or under load. */
declare(strict_types=1);

namespace Dlock\Doctor;

/** Minutes after which a transaction is a long one. */
const LONG_TRANSACTION = 10;

Subjects::add(PostgresServer::class, examine_pgsql_settings(...), ['logged', 'maxclients', 'pooler', 'snapshot', 'tables']);
Subjects::add(PostgresServer::class, measure_pgsql_latency(...), ['slow']);

function examine_pgsql_settings(PostgresServer $server): void
{
    if ($server->pdo->pgsqlGetPid() !== (int) $server->ask('SELECT pg_backend_pid()')) {
        $server->unusable('pooler', 'is behind a pooler.', 'A waiter needs a session of its own, and dlock refuses to share one.', 'Give the address of the server itself.');
        return;
    }
    examine_pgsql_tables($server);
    $most = (int) $server->ask('SHOW max_connections');
    $workers = $server->plan->workers * $server->plan->hosts;
    if ($workers > 0 && $most < 2 * $workers) {
        $server->plan->report->add($most < $workers ? Severity::Problem : Severity::Warning, 'maxclients', $server->label,
            "takes $most connections (max_connections), for " . plural($workers, 'worker') . '.',
            'Each worker has up to two (locks, renewal), beside the application\'s own; beyond that they are refused, and locks fail.',
            'Set max_connections above ' . 2 * $workers . ', and what others need.');
    }
    $minutes = (int) $server->ask("SELECT extract(epoch FROM max(clock_timestamp() - xact_start)) / 60 FROM pg_stat_activity WHERE backend_xmin IS NOT NULL");
    if ($minutes >= LONG_TRANSACTION) {
        $server->warning('snapshot', "has a transaction that is open for $minutes min.", 'It keeps dead rows of all tables from being removed.',
            'Find it in pg_stat_activity, and end it.');
    }
}

function examine_pgsql_tables(PostgresServer $server): void
{
    $schema = $server->spec['schema'];
    $kind = $server->ask('SELECT c.relpersistence FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = ? AND c.relname = ?', [$schema, 'locks']);
    if ($kind === null && !$server->spec['create']) {
        $server->unusable('tables', "has no tables of dlock in the schema $schema.", 'Locks cannot be taken there.',
            'Run postgresql.sql there, or add create=1 to the address.');
    } elseif ($kind === 'p') {
        $server->note('logged', 'has dlock\'s tables logged.', 'Each lock costs a write to the disk, and an asynchronous standby may lack the last ones.',
            'ALTER TABLE ' . $schema . '.locks SET UNLOGGED, likewise waiters and era, unless you need leases to outlast a crash.');
    }
}

function measure_pgsql_latency(PostgresServer $server): void
{
    for ($i = 0; $i < ROUND_TRIPS; $i++) {
        $start = clock();
        $server->pdo->query('SELECT 1')->fetchAll();
        $server->trips[] = clock() - $start;
    }
    if (min($server->trips) > SLOW) {
        $server->warning('slow', sprintf('round trips take %s at best.', seconds(min($server->trips))),
            'Each lock takes one, each release another, and a waiter learns so much later that the lock is free.', 'Use a server that is nearer.');
    }
}
