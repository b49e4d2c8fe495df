--TEST--
However a process ends, its locks are free: end of the script, exit, exceptions, fatal errors, limits
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$ends = [
    'the end of the script' => ['', 0, ''],
    'exit' => ['exit(3);', 3, ''],
    'exit in a nested function' => ['function inner() { exit(4); } function outer() { inner(); } outer();', 4, ''],
    'exit in a destructor' => ['class Last { function __destruct() { exit(5); } } $last = new Last(); unset($last);', 5, ''],
    'exit in a shutdown function' => ['register_shutdown_function(function () { exit(6); });', 6, ''],
    'exit in an output handler\'s way' => ['ob_start(); echo "more"; exit(7);', 7, ''],
    'an uncaught exception' => ['throw new RuntimeException("uncaught");', 255, 'Uncaught RuntimeException: uncaught'],
    'an uncaught error in a function' => ['(function () { no_such_function(); })();', 255, 'Call to undefined function no_such_function()'],
    'a fatal error' => ['eval("abstract class A { abstract function f(); } class B extends A {}");', 255, 'Fatal error'],
    'E_USER_ERROR' => ['set_error_handler(null); trigger_error("the end", E_USER_ERROR);', 255, 'Fatal error: the end'],
    'the memory limit' => ['ini_set("memory_limit", "8M"); $s = str_repeat("x", 50_000_000);', 255, 'Allowed memory size'],
    'the time limit' => ['reach_time_limit();', 255, 'Maximum execution time of 1 second exceeded'],
    'a parse error' => ['eval("this is no PHP");', 255, 'Parse error'],
];
if (!has_memory_limit()) {
    unset($ends['the memory limit']);
}
foreach (ways_to_hold() as $way => [, $prefix]) {
    $children = [];
    foreach ($ends as $end => [$code, $exit_code, $output]) {
        $resource = unique("$way $end");
        $children[] = [$end, $exit_code, $output, $prefix . $resource, holder($way, $resource, $code)];
    }
    $redis = redis_raw();
    foreach ($children as [$end, $exit_code, $output, $key, $child]) {
        same(1, $redis->cmd('EXISTS', $key), "$way: the key before $end");
        $child->writeLine('end');
        $text = $child->readAll();
        holds(str_contains($text, $output), "$way: the output of $end", $text);
        same($exit_code, $child->wait(), "$way: the exit code of $end");
        // The key disappeared with the process.
        same(0, $redis->cmd('EXISTS', $key), "$way: the key after $end");
    }
}
echo "done\n";
?>
--EXPECT--
done
