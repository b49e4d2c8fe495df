<?php
declare(strict_types=1);

namespace Dlock\Doctor;

Subjects::add('pgsql', examine_pgsql(...), ['client', 'unreachable', 'version']);

function examine_pgsql(Plan $plan): void
{
    $spec = $plan->servers[0];
    if (!extension_loaded('pdo_pgsql')) {
        $plan->report->add(Severity::Note, 'client', $spec['label'], 'can only be tried: this PHP has no pdo_pgsql.',
            'What follows needs a client of its own.', 'Install it for the command line (Debian: php-pgsql).');
        $plan->report->looked = "$plan->class on $spec[label]";
        return;
    }
    $server = new PostgresServer($spec, $plan);
    $server->examine();
    $plan->summarise($server->label, 'PostgreSQL', [$server]); // DistributedLock has one
}
