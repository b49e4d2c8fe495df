--TEST--
The stub file is PHP, for IDEs and static analyzers, and declares exactly what the extension has
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/declarations.inc';

$stub = dirname(__DIR__, 2) . '/stubs/dlock.stub.php';
exec(escapeshellarg(PHP_BINARY) . ' -n -l ' . escapeshellarg($stub) . ' 2>&1', $output, $code);
same(0, $code, 'php -l: ' . implode(' ', $output));

// A PHP without the extension declares what the stub has.
$child = '
    define("UNKNOWN", ""); // the value of constants in stubs
    $before = [get_declared_classes(), get_declared_interfaces()];
    require $argv[1];
    $functions = get_defined_functions()["user"];
    $classes = array_diff([...get_declared_classes(), ...get_declared_interfaces()], ...$before);
    require $argv[2];
    echo json_encode(declarations(array_values($classes), $functions));';
$output = [];
$command = [PHP_BINARY, '-n', '-r', $child, $stub, dirname(__DIR__) . '/inc/declarations.inc'];
exec(implode(' ', array_map('escapeshellarg', $command)) . ' 2>&1', $output, $code);
same(0, $code, 'loading the stub: ' . implode("\n", $output));
$declared = json_decode(implode("\n", $output));

$extension = new ReflectionExtension('dlock');
$has = declarations($extension->getClassNames(), array_keys($extension->getFunctions()));
if (!class_exists('ZkLock', false)) {
    $declared = array_values(array_filter($declared, fn (string $text) => !str_contains($text, 'ZkLock')));
}
foreach (array_diff($declared, $has) as $text) {
    echo "only in the stub: $text\n";
}
foreach (array_diff($has, $declared) as $text) {
    echo "not in the stub: $text\n";
}
holds(count($has) > 60, 'there is something to compare', count($has));
echo "done\n";
?>
--EXPECT--
done
