<?php
/* Reads the history of a run, and reports which properties it violates.
 *
 *   php check.php DIR [--safety]    --safety: only what can be told during the run. Exit status 1: violated
 *
 * The name of DIR is the class; properties that it does not promise are not checked. */
declare(strict_types=1);

ini_set('memory_limit', '-1');
require __DIR__ . '/inc/properties.php';
require __DIR__ . '/inc/report.php';

$properties = ($argv[2] ?? '') === '--safety' ? SAFETY : array_keys(PROPERTIES);
$found = violations(History::read($argv[1]), array_values(array_intersect($properties, properties_of(basename($argv[1])))));
print_violations($found);
exit(array_filter($found) ? 1 : 0);
