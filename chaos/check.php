<?php
/* Reads the history of a run, and says which properties it violates.
 *
 *   php check.php DIR [--safety]    --safety: only what can be told while the run goes on. Exit status 1: violated */
declare(strict_types=1);

ini_set('memory_limit', '-1');
require __DIR__ . '/inc/properties.php';
require __DIR__ . '/inc/report.php';

$found = violations(History::read($argv[1]), ($argv[2] ?? '') === '--safety' ? SAFETY : null);
print_violations($found);
exit(array_filter($found) ? 1 : 0);
