<?php
declare(strict_types=1);

namespace Dlock\Doctor;

Subjects::add('pgsql', fn (Plan $plan) => examine_database($plan, 'PostgreSQL', 'pgsql', PostgresServer::class), ['client']);
Subjects::add('mysql', fn (Plan $plan) => examine_database($plan, 'MySQL', 'mysql', MysqlServer::class), ['client']);

/** @param class-string<DatabaseServer> $class */
function examine_database(Plan $plan, string $product, string $client, string $class): void
{
    $spec = $plan->servers[0];
    if (!extension_loaded("pdo_$client")) {
        $plan->report->add(Severity::Note, 'client', $spec['label'], "can only be tried: this PHP has no pdo_$client.",
            'What follows needs a client of its own.', "Install it for the command line (Debian: php-$client).");
        $plan->report->looked = "$plan->class on $spec[label]";
        return;
    }
    $server = new $class($spec, $plan);
    $server->examine();
    $plan->summarise($server->label, $server->product ?? $product, [$server]); // DistributedLock has one server
}
