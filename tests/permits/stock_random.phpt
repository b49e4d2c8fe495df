--TEST--
A random walk through all operations on stocks agrees with a model, in virtual time
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/stock_walk.inc';

/** The first seeds, and some that found mistakes of tests/inc/stock_mistakes.inc that these did not. */
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 13, 19, 24, 29];

// DLOCK_STOCK_SEED: that seed only, for as many operations as requested. DLOCK_STOCK_TRACE: prints this number of its
// last scripts.
$seed = (int) getenv('DLOCK_STOCK_SEED');
$operations = (int) getenv('DLOCK_STOCK_OPERATIONS') ?: 1000;
$check = new StockCheck();
$wrong = $check->run($seed > 0 ? [$seed] : SEEDS, $operations);
if ($wrong !== null) {
    echo "$wrong\n";
}

// A walk must reach each of these outcomes, otherwise it says nothing about them.
foreach (['again', 'basket', 'basket bought before', 'basket conflict', 'basket in its turn', 'basket left', 'basket moved', 'basket queued', 'basket refused', 'basket withdrawn', 'bought', 'bought before', 'bought late', 'cancel refused 0',
    'cancel refused 4', 'cancel refused 5', 'cancel refused 7', 'cancelled 1', 'cancelled 2', 'cancelled 3', 'cancelled while it waited', 'change 0 10', 'change 0 6',
    'change 1 ', 'clock set back', 'closed', 'confirm refused 0', 'confirm refused 1', 'confirm refused 2', 'confirm refused 3', 'confirm refused 4',
    'confirm refused 5', 'confirm refused 6', 'conflict', 'extended', 'extension refused', 'grant by message', 'host vanished', 'left', 'limit', 'orders',
    'process died', 'queued', 'refund 0', 'refund 1', 'refund 2', 'refused', 'repeated', 'reserved', 'restocked', 'status', 'told to ask', 'withdrawn'] as $what) {
    if (getenv('DLOCK_STOCK_SEED') === false && ($check->seen[$what] ?? 0) < 1) {
        echo "$what: never\n";
    }
}
?>
done
--EXPECT--
done
