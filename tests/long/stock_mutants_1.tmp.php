<?php
require __DIR__ . '/../inc/stock_mistakes.inc';
look_for_mistakes($mistakes, 0, 4);
echo "done\n";
?>
