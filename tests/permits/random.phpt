--TEST--
A random walk through all operations on permits agrees with a model, in virtual time
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/permits_check.inc';

/** The first seeds, and one that found a mistake of tests/long/permits_mutants.phpt that these did not. */
const SEEDS = [1, 2, 3, 4, 5, 11];

// DLOCK_PERMITS_SEED: that seed only, for as many operations as requested.
$seed = (int) getenv('DLOCK_PERMITS_SEED');
$operations = (int) getenv('DLOCK_PERMITS_OPERATIONS') ?: 1500;
$check = new PermitsCheck();
$wrong = $check->run($seed > 0 ? [$seed] : SEEDS, $operations);
if ($wrong !== null) {
    echo "$wrong\n";
}

// A walk must reach each of these outcomes, otherwise it says nothing about them.
foreach (['abandoned', 'acquired', 'clock set back', 'downgraded', 'exchanged', 'grant by message', 'grant to a vanished host', 'key ended', 'left', 'others read', 'queued', 'readers let in', 'refused',
    'release of nothing', 'renewal refused', 'renewed', 'second upgrade', 'told to go on', 'upgrade of nothing', 'upgraded', 'upgraded at once'] as $what) {
    if (getenv('DLOCK_PERMITS_SEED') === false && ($check->seen[$what] ?? 0) < 3) {
        echo "$what: ", $check->seen[$what] ?? 0, "\n";
    }
}
?>
done
--EXPECT--
done
