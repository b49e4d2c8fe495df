--TEST--
The check of a fleet's history finds every way in which two processes can hold at the same time, and nothing else
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/legacy.inc';

$histories = [
    'one after the other' => [0, [[1, 'a', 'in', 'r', 9], [2, 'a', 'out'], [3, 'b', 'in', 'r', 9], [4, 'b', 'out']]],
    'written in another order' => [0, [[3, 'b', 'in', 'r', 9], [4, 'b', 'out'], [1, 'a', 'in', 'r', 9], [2, 'a', 'out']]],
    'two at a time' => [1, [[1, 'a', 'in', 'r', 9], [2, 'b', 'in', 'r', 9], [3, 'a', 'out'], [4, 'b', 'out']]],
    'one within another' => [1, [[1, 'a', 'in', 'r', 9], [2, 'b', 'in', 'r', 9], [3, 'b', 'out'], [4, 'a', 'out']]],
    'within another, behind a short one' => [2, [[1, 'a', 'in', 'r', 9], [2, 'b', 'in', 'r', 9], [3, 'b', 'out'], [4, 'c', 'in', 'r', 9]]],
    'two resources' => [0, [[1, 'a', 'in', 'r', 9], [2, 'b', 'in', 's', 9], [3, 'a', 'out'], [4, 'b', 'out']]],
    'after a kill' => [0, [[1, 'a', 'in', 'r', 9], [2, 'a', 'killed'], [3, 'b', 'in', 'r', 9]]],
    'before a kill' => [1, [[1, 'a', 'in', 'r', 9], [2, 'b', 'in', 'r', 9], [3, 'a', 'killed']]],
    'after its own time' => [0, [[1, 'a', 'in', 'r', 3], [4, 'b', 'in', 'r', 9], [5, 'a', 'out']]],
    'before its time is over' => [1, [[1, 'a', 'in', 'r', 5], [4, 'b', 'in', 'r', 9], [6, 'a', 'out']]],
    'who never came out' => [1, [[1, 'a', 'in', 'r', 9], [4, 'b', 'in', 'r', 9]]],
    'too late to come in' => [0, [[1, 'a', 'in', 'r', 9], [2, 'b', 'in', 'r', 2], [3, 'b', 'out'], [4, 'a', 'out']]],
    'killed before it came in again' => [1, [[1, 'a', 'killed'], [2, 'a', 'in', 'r', 9], [3, 'b', 'in', 'r', 9]]],
];
foreach ($histories as $name => [$expected, $history]) {
    same($expected, count(overlaps($history)), $name);
}
echo "done\n";
?>
--EXPECT--
done
