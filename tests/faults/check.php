<?php
/* Reads the history of a run, and says which properties it violates.
 *
 *   php check.php DIR [--safety]    --safety: only what can be told while the run goes on. Exit status 1: violated.
 *                                   What a class does not promise is left out by the name of DIR */
declare(strict_types=1);

ini_set('memory_limit', '-1');
require __DIR__ . '/inc/properties.php';
require __DIR__ . '/inc/report.php';

$properties = ($argv[2] ?? '') === '--safety' ? SAFETY : array_keys(PROPERTIES);
$found = violations(History::read($argv[1]), array_values(array_intersect($properties, properties_of(basename($argv[1])))));
print_violations($found);
exit(array_filter($found) ? 1 : 0);
