--TEST--
The random check of stocks finds each of these mistakes in the scripts, part 2 of 4
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
?>
--FILE--
<?php
require __DIR__ . '/../inc/stock_mistakes.inc';
look_for_mistakes($mistakes, 1, 4);
echo "done\n";
?>
--EXPECT--
done
