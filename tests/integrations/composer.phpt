--TEST--
Composer installs packages/ from a path repository beside Debian's frameworks; their autoloading, their PHPUnit tests and the stubs work
--EXTENSIONS--
ctype
dom
iconv
mbstring
phar
tokenizer
xml
xmlwriter
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_integration('symfony/DlockStore.php', 'php-symfony-lock', '/usr/share/php/Symfony/Component/Lock/autoload.php');
skip_unless_integration('laravel/Lock.php', 'php-illuminate-cache', '/usr/share/php/Illuminate/Cache/autoload.php');
skip_unless_integration('stubs/dlock.php', 'phpunit', '/usr/bin/phpunit');
skip_unless_integration('stubs/dlock.php', 'composer', '/usr/bin/composer');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/markdown.inc';

$packages = dirname(__DIR__, 2) . '/packages';
$project = temporary_directory();
putenv("COMPOSER_HOME=$project/home");
putenv('COMPOSER_ALLOW_SUPERUSER=1');

/** @return array{int, string} status and output of a PHP program that runs with the extension */
function php(string $program, string $arguments, string $options = ''): array
{
    exec(escapeshellarg(getenv('TEST_PHP_EXECUTABLE') ?: PHP_BINARY) . ' ' . php_options() . " $options " . escapeshellarg($program) . " $arguments 2>&1", $output, $status);
    return [$status, implode("\n", $output)];
}

/** Describes a framework's package that Debian has installed. */
function debian(string $name, string $package, string $directory): array
{
    exec('dpkg-query -W -f ' . escapeshellarg('${Version}') . " $package", $version);
    return ['type' => 'package', 'package' => [
        'name' => $name,
        'version' => preg_match('/^\d+\.\d+\.\d+/', $version[0], $number) ? $number[0] : throw new Exception("$package: $version[0]"),
        'dist' => ['type' => 'path', 'url' => "/usr/share/php/$directory"],
        'autoload' => ['files' => ['autoload.php']],
    ]];
}

file_put_contents("$project/composer.json", json_encode([
    'repositories' => [
        debian('symfony/lock', 'php-symfony-lock', 'Symfony/Component/Lock'),
        debian('symfony/semaphore', 'php-symfony-semaphore', 'Symfony/Component/Semaphore'),
        debian('illuminate/cache', 'php-illuminate-cache', 'Illuminate/Cache'),
        debian('illuminate/contracts', 'php-illuminate-contracts', 'Illuminate/Contracts'),
        debian('illuminate/support', 'php-illuminate-support', 'Illuminate/Support'),
        ['packagist.org' => false],
    ],
    'require' => ['symfony/semaphore' => '*'],
], JSON_UNESCAPED_SLASHES));
chdir($project);

// ---- the commands of docs/integrations.md, with this clone ----
[$block] = array_values(array_filter(blocks('docs/integrations.md'), fn (array $block) => str_starts_with($block['code'], 'composer ')));
foreach (explode("\n", rtrim($block['code'])) as $line) {
    $line = str_replace('/opt/dlock/packages', $packages, preg_replace('/^composer |  +#.*/', '', $line), $count);
    $quiet = str_starts_with($line, 'require') ? '--no-progress' : ''; // the progress would need PHP's intl
    [$status, $output] = php('/usr/bin/composer', "$line --no-interaction --no-plugins $quiet");
    same(0, $status, "composer $line: $output");
}

// ---- the classes, by the autoloader ----
file_put_contents("$project/classes.php", '<?php
    error_reporting(E_ALL & ~E_DEPRECATED);
    require "vendor/autoload.php";
    foreach ([Dlock\Symfony\DlockStore::class, Dlock\Symfony\ReadWriteStore::class, Dlock\Symfony\SemaphoreStore::class, Dlock\Laravel\LockProvider::class,
        Dlock\Laravel\Lock::class, Dlock\Laravel\Funnel::class, Dlock\Laravel\RedisStore::class, Dlock\Laravel\DlockServiceProvider::class,
        Dlock\Session\LockingSessionHandler::class] as $class) {
        class_exists($class) && str_contains((new ReflectionClass($class))->getFileName(), "/packages/") || print "$class\n";
    }
');
same([0, ''], php('classes.php', ''), 'classes');

// ---- the packages' own tests ----
$run = 0;
foreach (glob("$packages/*/tests") as $tests) {
    [$status, $output] = php('/usr/bin/phpunit', '--stderr --colors=never --do-not-cache-result --no-configuration --bootstrap vendor/autoload.php ' . escapeshellarg($tests),
        '-d error_reporting=' . (E_ALL & ~E_DEPRECATED));
    holds($status === 0 && preg_match('/^OK \((?!0)\d+ test/m', $output) === 1, "$tests pass", $output);
    $run++;
}
holds($run >= 3, 'packages have tests', $run);

// ---- the stubs: loaded without the extension, and the same as it ----
$describe = '
    function described(ReflectionFunctionAbstract $function): string {
        return implode(", ", array_map(fn ($p) => preg_replace("/ = \K.*(?= \])/", "…", (string) $p), $function->getParameters())) . ": " . $function->getReturnType();
    }
    $api = [];
    foreach ([...get_declared_classes(), ...get_declared_interfaces()] as $name) {
        $class = new ReflectionClass($name);
        if (!preg_match("/^(Dlock\\\\\\\\|DistributedLock$|RedLock$|ZkLock$)/", $name)) {
            continue;
        }
        $api[$name] = [$class->isFinal() || $class->isEnum(), $class->getParentClass() ? $class->getParentClass()->getName() : null, $class->getConstants() ? array_keys($class->getConstants()) : []];
        foreach ($class->getMethods() as $method) {
            $method->getDeclaringClass()->getName() === $name && $api["$name::{$method->getName()}"] = described($method);
        }
        foreach ($class->getProperties(ReflectionProperty::IS_PUBLIC) as $property) {
            $api["$name::\${$property->getName()}"] = (string) $property->getType();
        }
    }
    foreach (["Dlock\\\\stats", "Dlock\\\\describe_server"] as $name) {
        $api[$name] = described(new ReflectionFunction($name));
    }
    ksort($api);
    echo json_encode($api + ["version" => Dlock\VERSION]);
';
file_put_contents("$project/api.php", "<?php $describe");
file_put_contents("$project/stubs.php", "<?php require 'vendor/dlock/stubs/dlock.php'; $describe");
exec(escapeshellarg(getenv('TEST_PHP_EXECUTABLE') ?: PHP_BINARY) . ' -n -d display_errors=1 stubs.php 2>&1', $stubs, $status);
same(0, $status, 'the stubs load: ' . implode("\n", $stubs));
[$ours, $theirs] = array_map(fn (string $json) => json_decode($json, true, flags: JSON_THROW_ON_ERROR), [php('api.php', '')[1], implode("\n", $stubs)]);
holds(count($ours) > 100, 'an API was described', $ours);
foreach (array_keys($ours + $theirs) as $name) {
    same($ours[$name] ?? null, $theirs[$name] ?? null, "$name of the stubs");
}
$text = file_get_contents("$project/vendor/dlock/stubs/dlock.php");
same(2, preg_match_all('~@template T\n.*?@param callable\(Lease\): T \$criticalSection.*?@return T\n(?:(?!\*/).)*\*/\s+public function synchronized~s', $text), 'synchronized() is generic');
echo "done\n";
?>
--EXPECT--
done
