--TEST--
The stub file is PHP, for IDEs and static analysers, and declares what the extension has
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$stub = dirname(__DIR__, 2) . '/stubs/dlock.stub.php';
exec(escapeshellarg(PHP_BINARY) . ' -n -l ' . escapeshellarg($stub) . ' 2>&1', $output, $code);
same(0, $code, 'php -l: ' . implode(' ', $output));

// Which methods does it declare for each class?
$declared = [];
$namespace = $class = '';
foreach (file($stub) as $line) {
    if (preg_match('/^namespace (\w*)/', $line, $found)) {
        $namespace = $found[1] === '' ? '' : "$found[1]\\";
    } elseif (preg_match('/^    (?:final )?(?:class|interface|enum) (\w+)/', $line, $found)) {
        $declared[$class = $namespace . $found[1]] = [];
    } elseif (preg_match('/^        (?:public|private) function (\w+)/', $line, $found)) {
        $declared[$class][] = $found[1];
    }
}
foreach ((new ReflectionExtension('dlock'))->getClasses() as $name => $reflection) {
    if (isset($declared[$name])) {
        $own = array_filter($reflection->getMethods(), fn ($method) => $method->class === $name && $method->name !== 'cases');
        $own = array_map(fn ($method) => $method->name, array_values($own));
        sort($own);
        sort($declared[$name]);
        same($declared[$name], $own, "methods of $name");
    } else {
        echo "the stub has no $name\n";
    }
}
echo "done\n";
?>
--EXPECT--
done
