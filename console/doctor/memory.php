<?php
/* memory://, which is not a server. */
declare(strict_types=1);

namespace Dlock\Doctor;

Subjects::add('memory', examine_table(...), ['one-process']);

function examine_table(Plan $plan): void
{
    $label = $plan->servers[0]['label'];
    $plan->report->add(Severity::Note, 'one-process', $label, 'is a table in this process: there is no server to look at.',
        'Other processes, such as php-fpm\'s other workers, have tables of their own and acquire the same locks.',
        'Use it in tests, and in a daemon that is one process.');
    $plan->report->looked = "$plan->class on $label";
}
