--TEST--
Documentation: each block of PHP runs and gives what its comments say; each block marked "lint" is valid PHP
--EXTENSIONS--
pcntl
pdo
pdo_sqlite
posix
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
skip_unless_integration('symfony/DlockStore.php', 'php-symfony-lock', '/usr/share/php/Symfony/Component/Lock/autoload.php');
skip_unless_integration('symfony/SemaphoreStore.php', 'php-symfony-semaphore', '/usr/share/php/Symfony/Component/Semaphore/autoload.php');
skip_unless_integration('laravel/Lock.php', 'php-illuminate-cache', '/usr/share/php/Illuminate/Cache/autoload.php');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/markdown.inc';

/* ```php       runs. "EXPRESSION;   // => VALUE" is compared.
 * ```php lint  is a fragment, or code that dlock replaces: its syntax is checked.
 * In the reference the blocks are declarations, and examples that begin with a variable. A block that begins with a
 * value is a list of servers, each for DistributedLock. */

/** What the blocks expect of an application. */
const APPLICATION = <<<'PHP'
    set_error_handler(fn ($code, $message) => error_reporting() & $code ? throw new ErrorException($message) : true);
    function expect(mixed $expected, mixed $actual, string $line): mixed
    {
        if ($expected !== $actual) {
            throw new Exception("$line\n      but it is " . var_export($actual, true));
        }
        return $actual;
    }
    $db = new PDO('sqlite::memory:');
    $db->exec('CREATE TABLE goods (id INT, stock INT, fence BIGINT NOT NULL DEFAULT 0)');
    $db->exec('INSERT INTO goods (id, stock) VALUES (42, 3)');
    register_shutdown_function(fn () => isset($GLOBALS['sell'])
        && expect([2, 1], $db->query('SELECT stock, fence > 0 FROM goods')->fetch(PDO::FETCH_NUM), 'what $sell wrote'));
    function read_stock(int $id): int { return 3; }
    function write_stock(int $id, int $stock, int $fence): void {}
    function ship(int $order): void {}
    function send_invoice(int $number): void {}
    function write_report(): void {}
    function count_metric(string $name, int|float $value): void {}
    function next_order(): int { $GLOBALS['orders'] = ($GLOBALS['orders'] ?? 6) + 1; $GLOBALS['orders'] < 9 || posix_kill(getmypid(), SIGTERM); return $GLOBALS['orders']; }
    function put_back(int $order): void {}
    function schema_version(): int { return $GLOBALS['schema'] ?? 6; }
    function migrate_to(int $version): void { $GLOBALS['schema'] = $version; }
    function sell_one(int $id): bool { return true; }
    function refund_payment(string $order): void {}
    function cache_get(string $key): mixed { return $GLOBALS['cache'][$key] ?? null; }
    function cache_put(string $key, mixed $value): mixed { return $GLOBALS['cache'][$key] = $value; }
    PHP;

function with_expectations(string $code): string
{
    return preg_replace_callback('~^( *)(\S.*);\s+// => (.*)$~m', fn ($m) => "$m[1]expect($m[3], $m[2], " . var_export($m[0], true) . ');', $code);
}

function lint(string $code): string
{
    file_put_contents($file = temporary_directory() . '/block.php', "<?php\n" . preg_replace('/^<\?php\s/', '', $code));
    exec(escapeshellarg(PHP_BINARY) . ' -n -l ' . escapeshellarg($file) . ' 2>&1', $output, $code);
    return $code === 0 ? '' : implode("\n", $output);
}

function run(string $file, string $code): string
{
    $frameworks = preg_match('~^packages/|^docs/(integrations|recipes)\.md~', $file) ? 'require_once ' . var_export(dirname(__DIR__) . '/inc/integrations.inc', true) . '; load_integrations();' : '';
    $child = php_child("$frameworks\n" . APPLICATION . "\n\$server = " . var_export(redis_server(), true) . ";\n"
        . with_expectations(with_test_servers(preg_replace('/^<\?php\s/', '', $code))));
    $said = $child->readAll();
    return ($status = $child->wait()) === 0 && !preg_match('/Warning|Deprecated|Notice|Fatal/', $said) ? '' : "exit status $status\n$said";
}

/**
 * @return string what is wrong with a list of servers in the form of docs/operations.md, one server per line (or more)
 */
function servers(string $code): string
{
    $no_tls = '/this build of dlock has no TLS/';
    $list = eval('return [' . preg_replace("/\n(?=['\\[])/", "\n, ", $code) . '];');
    $wrong = count($list) >= 5 ? [] : ['too few'];
    foreach ($list as $server) {
        $e = thrown_by(fn () => new DistributedLock($server));
        if ($e !== null && !preg_match($no_tls, $e->getMessage())) {
            $wrong[] = shown($server) . ': ' . $e->getMessage();
        }
    }
    return implode("\n", $wrong);
}

$done = ['run' => 0, 'lint' => 0, 'declaration' => 0, 'servers' => 0];
foreach (php_documents() as $file) {
    foreach (php_blocks($file) as ['line' => $line, 'info' => $info, 'code' => $code]) {
        $how = match (true) {
            $file === 'docs/reference.md' && $code[0] !== '$' => 'declaration', // others are examples
            $info === 'lint' => 'lint',
            $info !== '' => throw new Exception("$file, line $line: no such kind of block: $info"),
            (bool) preg_match("/^['\\[]/", $code) => 'servers',
            default => 'run',
        };
        $done[$how]++;
        $wrong = match ($how) {
            'declaration' => lint("interface Declaration { $code; }"),
            'lint' => lint($code),
            'servers' => servers($code),
            'run' => run($file, $code),
        };
        if ($wrong !== '') {
            echo "$file, line $line: $wrong\n";
        }
    }
}
holds(min($done) >= 1 && $done['run'] >= 11, 'blocks were found', $done);
echo "done\n";
?>
--EXPECT--
done
