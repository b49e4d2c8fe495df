<?php
/* The extension and its settings. */
declare(strict_types=1);

namespace Dlock\Doctor;

Subjects::add(Plan::class, examine_php(...), ['extension', 'shutdown']);

function examine_php(Plan $plan): void
{
    if (\Dlock\VERSION !== VERSION) {
        $plan->report->add(Severity::Warning, 'extension', 'this PHP',
            'has dlock ' . \Dlock\VERSION . ', and this script is of ' . VERSION . '.',
            'It may look at what does not matter there, and not at what does.', 'Use the script that came with the extension.');
    }
    if (!ini_get('dlock.release_on_shutdown')) {
        $plan->report->add(Severity::Note, 'shutdown', 'this PHP', 'dlock.release_on_shutdown is off.',
            'What a request does not release stays locked until its lease ends.',
            'Fine where it is meant; releaseOnShutdown: false does it for one object.');
    }
}
