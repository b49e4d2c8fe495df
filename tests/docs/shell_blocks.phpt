--TEST--
Documentation: commands in its blocks do what the text says, blocks of SQL and YAML are right, and no block is unchecked
--EXTENSIONS--
ctype
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
is_dir(dirname(__DIR__, 2) . '/scripts') || die('skip needs a checkout: a package has no scripts/');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';
require __DIR__ . '/../inc/doctor.inc';
require __DIR__ . '/../inc/markdown.inc';

use Symfony\Component\Config\FileLocator;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\Loader\YamlFileLoader;
use Symfony\Component\Lock\LockFactory;

/* code_blocks.phpt checks blocks of PHP, except those of files that it does not read. For each other block rule_for()
   names the rule: a function that says what is wrong with the block. */

define('TOP', dirname(__DIR__, 2));

/** Variables that a script passes on, and the file that reads them. */
const VARIABLES = [
    'DLOCK_TEST_REDIS_SERVER' => 'tests/setup/servers.sh',
];

function commands_directory(): string
{
    static $directory = null;
    return $directory ??= temporary_directory();
}

/** The command $name runs this script of sh. */
function command(string $name, string $script): void
{
    file_put_contents($file = commands_directory() . "/$name", "#!/bin/sh\n$script\n");
    chmod($file, 0755);
}

function php(): string
{
    return escapeshellarg(getenv('TEST_PHP_EXECUTABLE') ?: PHP_BINARY);
}

/** Types a line into a shell, and returns what it prints. */
function typed(string $line, ?int &$status = null): string
{
    // A sanitizer's library is for PHP only.
    exec('env -u LD_PRELOAD PATH=' . escapeshellarg(commands_directory() . ':' . getenv('PATH'))
        . ' setpriv --pdeathsig KILL timeout 100 sh -c ' . escapeshellarg($line) . ' 2> ' . commands_directory() . '/errors',
        $output, $status);
    return implode("\n", $output);
}

/**
 * @param array<string, callable> $checks pattern for a line, with its comment => is its output right? Each check is for
 *     one line.
 */
function check_lines(string $code, array $checks): string
{
    $wrong = [];
    foreach (explode("\n", rtrim($code)) as $line) {
        $patterns = array_filter(array_keys($checks), fn (string $pattern) => (bool) preg_match($pattern, $line));
        if (count($patterns) !== 1) {
            $wrong[] = count($patterns) . " checks for: $line";
            continue;
        }
        $output = typed($line, $status);
        if ($status !== 0 || !$checks[current($patterns)]($output, $line)) {
            $wrong[] = "$line\ngives, with status $status: $output" . file_get_contents(commands_directory() . '/errors');
        }
        unset($checks[current($patterns)]);
    }
    return implode("\n", [...$wrong, ...array_map(fn (string $pattern) => "there is no $pattern", array_keys($checks))]);
}

/** A process that acquires the lock and prints its token, and reports its loss. */
function lease_holder(string $manager, string $resource): PhpChild
{
    return php_child("\$lease = (new $manager)->acquire(\$argv[1], 60);" . '
        echo "$lease->token\n";
        wait_for(fn () => $lease->state() === Dlock\LeaseState::Lost, 100, "the loss");
        echo "lost\n";
    ', [$resource]);
}

// ---- the rules ------------------------------------------------------------------------------------------------------

function redis_commands(string $code): string
{
    $server = redis_private();
    exec('command -v redis-cli', $path);
    command('redis-cli', "exec $path[0] -p $server->port \"\$@\"");
    $manager = 'DistributedLock(' . var_export($server->dsn(), true) . ')';
    $holder = lease_holder($manager, 'order:7');
    $token = $holder->readLine();
    return check_lines($code, [
        '/ GET Lock:order:7 +# who holds: the token/' => fn ($output) => $output === $token,
        '/ PTTL Lock:order:7 +# .*in ms/' => fn ($output) => preg_match('/^\d+$/', $output) && $output > 0 && $output <= 10000,
        '/ DEL Lock:order:7 +# frees the lock; its holder notices at the next renewal$/'
            => fn ($output) => $output === '1' && $holder->readLine() === 'lost',
    ]);
}

/** A ZooKeeper that allows the words that operations.md names, with a lock that one client holds and two wait for. */
final class WatchedZooKeeper
{
    public readonly PrivateZooKeeper $server;
    /** @var list<string> */
    public readonly array $nodes;
    /** @var list<PhpChild> */
    private array $processes;

    public function __construct()
    {
        preg_match('/^\| `4lw\.commands\.whitelist` \| `([^`]+)` for monitoring; `([^`]+)`/m', document('docs/operations.md'), $allowed);
        $this->server = zk_private(['4lw.commands.whitelist' => "$allowed[1], $allowed[2]"]);
        $manager = 'ZkLock(' . var_export($this->server->hosts(), true) . ')';
        $this->processes[] = $holder = lease_holder($manager, 'order:7');
        $holder->readLine();
        $zk = $this->server->raw();
        foreach ([2, 3] as $nodes) {
            $this->processes[] = lease_holder($manager, 'order:7');
            wait_for_nodes($zk, $nodes, 'order:7');
        }
        $this->nodes = zk_nodes($zk, 'order:7');
        $zk->close();
    }

    public static function get(): self
    {
        static $zookeeper = null;
        return $zookeeper ??= new self();
    }
}

/** What how-it-works.md shows of the nodes. */
function zookeeper_nodes(string $code): string
{
    $zookeeper = WatchedZooKeeper::get();
    $there = ['/locks', '/locks/order:7', ...array_map(fn (string $node) => "/locks/order:7/$node", $zookeeper->nodes)];
    $wrong = [];
    foreach (explode("\n", rtrim($code)) as $i => $line) {
        $pattern = str_replace('\<token\>', '[\w-]+', preg_replace('/\d{10}$/', '\d{10}', preg_quote(strtok($line, ' '), '/')));
        preg_match("/^$pattern\$/", $there[$i] ?? '') || $wrong[] = "$line: there is " . ($there[$i] ?? 'nothing');
    }
    return implode("\n", $wrong);
}

/** What how-it-works.md shows of nodes that ask for permits, each line in turn. */
function permit_nodes(string $code): string
{
    $server = 'zookeeper://' . zk_hosts() . '/locks';
    $lock = new Dlock\ReadWriteLock($server);
    $takes = [fn () => (new Dlock\Semaphore(10, $server))->acquire('smtp', 3), fn () => $lock->readLock()->acquire('prices'), fn () => $lock->writeLock()->acquire('prices')];
    $wrong = [];
    foreach (explode("\n", rtrim($code)) as $i => $line) {
        $lease = $takes[$i]();
        $parent = dirname(strtok($line, ' '));
        $there = $parent . '/' . implode(' ', zk_nodes(zk_raw(), basename($parent)));
        $shown = preg_replace('/\d{10}$/', '', str_replace('<token>', $lease->token, strtok($line, ' ')));
        preg_match('/^' . preg_quote($shown, '/') . '\d{10}$/', $there) || $wrong[] = "$line: there is $there";
        $lease->release();
    }
    return implode("\n", $wrong);
}

/** The exit status is that of the worst finding that the command prints. */
function doctor_commands(string $code): string
{
    command('dlock-doctor', 'exec ' . php() . ' ' . php_options() . ' ' . escapeshellarg(DOCTOR) . ' "$@"');
    file_put_contents($arguments = commands_directory() . '/arguments', redis_server() . "\n--workers=2\n");
    $authorized = 'redis://:' . redis_password('default') . '@' . test_env('DLOCK_TEST_REDIS_AUTH');
    $code = preg_replace('~redis://:password@[\d.]+~', $authorized, $code);
    $wrong = [];
    foreach (explode("\n", rtrim(with_test_servers(str_replace('@/etc/shop/locks', "@$arguments", $code)))) as $line) {
        $output = typed($line, $status);
        $report = str_contains($line, '--json') ? json_decode($output, true) : null;
        preg_match('/^(problem|warning)/m', $output, $first);
        $worst = $report ? $report['worst'] : $first[1] ?? null;
        $complete = $report ? isset($report['findings']) : (bool) preg_match('/: (DistributedLock|RedLock|ZkLock|Stock) on .*\.$/', $output);
        if (!$complete || $status !== (['problem' => 2, 'warning' => 1][$worst ?? ''] ?? 0)) {
            $wrong[] = "$line\ngives, with status $status: $output" . file_get_contents(commands_directory() . '/errors');
        }
    }
    return implode("\n", $wrong);
}

/** The report on a server with no other problem, compared without numbers. */
function doctor_report(string $code): string
{
    $server = redis_private(['appendonly yes', 'appendfsync always']);
    $redis = $server->raw();
    $redis->cmd('EVAL', 'for i = 1, 2000 do redis.call("SET", "filling:" .. i, string.rep("x", 10000), "EX", 1000) end', 0);
    $redis->cmd('CONFIG', 'SET', 'maxmemory', 10_000_000); // each setting takes effect in this order
    $redis->cmd('CONFIG', 'SET', 'maxmemory-policy', 'volatile-lru');
    wait_for(fn () => preg_match('/^evicted_keys:[1-9]/m', $redis->cmd('INFO', 'stats')), 60, 'evictions');
    $redis->cmd('CONFIG', 'SET', 'maxmemory', 1 << 30); // room for the doctor's locks
    $run = new DoctorRun([$server->dsn()]);
    $numbers_aside = fn (string $text) => preg_replace('/\d+(\.\d+)*/', 'N', $text);
    return $run->status === 2 && $numbers_aside($run->output) === $numbers_aside($code) ? '' : "it says\n$run->output$run->errors";
}

function sql(string $code): string
{
    preg_match('/`fence` is a `([^`]+)`/', document('docs/leases.md'), $type) || throw new Exception('no word of the column');
    $process = proc_open(['env', '-u', 'LD_PRELOAD', '/usr/bin/python3', '-c', '
import sqlite3, sys
db = sqlite3.connect(":memory:")
db.execute("CREATE TABLE goods (id INT, fence " + sys.argv[1] + ")")
db.execute("INSERT INTO goods (id) VALUES (42), (43)")
for token in 5, 7, 7, 6, 8:
    print(db.execute(sys.argv[2], {"token": token, "id": 42}).rowcount, *db.execute("SELECT fence FROM goods ORDER BY id").fetchall())
', $type[1], $code], [['file', '/dev/null', 'r'], ['pipe', 'w'], ['redirect', 1]], $pipes);
    $output = stream_get_contents($pipes[1]);
    proc_close($process);
    $expected = "1 (5,) (0,)\n1 (7,) (0,)\n1 (7,) (0,)\n0 (7,) (0,)\n1 (8,) (0,)\n";
    return $output === $expected ? '' : "rows written, and what is there then:\n$output";
}

/** Whether a program reads it, outside its comments. */
function reads(string $file, string $pattern): bool
{
    return is_file(TOP . "/$file") && preg_match($pattern, preg_replace('~^\s*(#|//|\*).*~m', '', document($file)));
}

/** Each script exists, and knows the options and variables. */
function repository_commands(string $code): string
{
    $wrong = [];
    foreach (explode("\n", rtrim($code)) as $line) {
        preg_match('/^((?:\w+=\S+ )*)(\S+)([^#]*)/', $line, $part);
        [, $variables, $script, $arguments] = $part;
        is_executable(TOP . "/$script") || $wrong[] = "$script cannot be run";
        preg_match_all('/(\w+)=/', $variables, $names);
        foreach ($names[1] as $name) {
            reads(VARIABLES[$name] ?? $script, "/\\$\{?$name\b|getenv\('$name'\)/") || $wrong[] = "$line: nobody reads $name";
        }
        foreach (preg_split('/\s+/', $arguments, -1, PREG_SPLIT_NO_EMPTY) as $argument) {
            if (str_starts_with($argument, '-')) {
                reads($script, "/(?<![\w-])$argument(?![\w-])/") || $wrong[] = "$line: it does not know $argument";
            } elseif (str_contains($argument, '/')) {
                file_exists(TOP . "/$argument") || $wrong[] = "$line: there is no $argument";
            } else {
                is_numeric($argument) || reads($script, "/\b$argument\b/") || $wrong[] = "$line: it does not know $argument";
            }
        }
    }
    return implode("\n", $wrong);
}

/** scripts/test-package.sh installs those packages, and runs the lines after the build. */
function installation(string $code): string
{
    $wrong = [];
    preg_match('/^packages=\((.*?)^\)/ms', document('scripts/install-deps.sh'), $list);
    $installed = preg_split('/\s+/', preg_replace('/#.*/', '', $list[1]));
    $installed[] = 'make'; // build-essential includes it
    foreach (explode("\n", rtrim($code)) as $line) {
        if (preg_match('/^apt-get update && apt-get install (.*)$/', $line, $names)) {
            foreach (array_diff(explode(' ', $names[1]), $installed) as $name) {
                $wrong[] = "scripts/install-deps.sh does not install $name";
            }
        } elseif (preg_match('~^install (.+) /usr/local/bin/ && rm -rf \S+ && mkdir -p (\S+) && cp -r (.+) (\S+)/\s~', $line, $part)) {
            [, , , $folder] = $part;
            foreach (explode(' ', $part[1]) as $command) {
                is_executable(TOP . "/$command") && is_dir(TOP . "/$folder") || $wrong[] = "there is no command $command, or no folder $folder";
                $part[2] === $part[4] && reads($command, "~'/../" . substr($part[2], strlen('/usr/local/')) . "/$folder'~")
                    || $wrong[] = "$command does not look for its folder in $part[2]";
            }
        } elseif (preg_match('/^echo extension=dlock\.so > .* && phpenmod dlock && (php --ri dlock)$/', $line, $look)) {
            command('php', 'exec ' . php() . ' ' . php_options() . ' "$@"');
            str_contains(typed($look[1], $status), 'dlock') && $status === 0 || $wrong[] = "$line: status $status";
        } elseif (!preg_match('/^phpize && \.\/configure && make && make install$/', $line)) {
            $wrong[] = "nobody checks: $line";
        }
    }
    return implode("\n", $wrong);
}

/** scripts/test-package.sh runs these lines of docs/installation.md. */
function is_run(string ...$lines): void
{
    foreach ($lines as $line) {
        holds(str_contains(document('scripts/test-package.sh'), "sed -n '$line' docs/installation.md"), "scripts/test-package.sh takes $line");
    }
}

function removal(string $code): string
{
    is_run('/^phpdismod/p');
    return substr_count($code, "\n") === 1 ? '' : 'more than it runs';
}

function debian_package(string $code): string
{
    is_run('/^cp -rL packages/,/^dpkg-buildpackage/p', '/^apt-get install .*\.deb/p');
    return preg_match('/^cp -rL packages\/debian debian\napt-get build-dep .*\ndpkg-buildpackage .*\napt-get install .*\.deb .*\n$/', $code) ? '' : 'not what it runs';
}

/** acl.phpt uses the user's rights from that line. Here a server receives the line unchanged. */
function acl(string $code): string
{
    $server = redis_private();
    $reply = $server->raw()->cmd(...explode(' ', rtrim($code)));
    $locks = new DistributedLock("redis://locks:s3cret@{$server->address()}");
    $e = thrown_by(fn () => $locks->acquire('x', 0)->release());
    $reads = "file_get_contents(__DIR__ . '/../../docs/operations.md')";
    holds(str_contains(document('tests/handover/acl.phpt'), $reads), 'acl.phpt reads docs/operations.md');
    same(1, preg_match_all('/^ACL SETUSER/m', document('docs/operations.md')), 'lines of which it reads the first');
    return $reply === 'OK' && $e === null ? '' : "$reply, " . $e?->getMessage();
}

/**
 * tests/integrations/composer.phpt types the commands of docs/integrations.md; the others name a package that exists.
 */
function composer(string $code): string
{
    $names = array_map(fn (string $file) => json_decode(file_get_contents($file))->name, glob(TOP . '/packages/*/composer.json'));
    preg_match_all('~\bdlock/[\w-]+~', preg_replace('~\S+/packages/\S+~', '', $code), $named);
    holds(reads('tests/integrations/composer.phpt', "~blocks\('docs/integrations\.md'\).*'composer '~"), 'composer.phpt takes the block');
    return implode(', ', array_diff($named[0], $names));
}

/** Symfony's services, which make a factory of locks. */
function yaml(string $code): string
{
    foreach (['Lock', 'DependencyInjection', 'Config', 'Yaml'] as $component) {
        require_once "/usr/share/php/Symfony/Component/$component/autoload.php";
    }
    require_once TOP . '/packages/symfony/DlockStore.php';
    $directory = temporary_directory();
    file_put_contents("$directory/services.yaml", $code);
    $container = new ContainerBuilder();
    (new YamlFileLoader($container, new FileLocator($directory)))->load('services.yaml');
    $container->getDefinition(LockFactory::class)->setPublic(true);
    putenv('LOCK_DSN=' . redis_server());
    $container->compile(true);
    $lock = $container->get(LockFactory::class)->createLock(unique());
    return $lock->acquire() && $lock->isAcquired() ? '' : 'no lock';
}

/** scripts/test-package.sh runs the image of Debian. Both images do the same, except for the packages. */
function image(string $code): string
{
    holds(str_contains(document('scripts/test-package.sh'), 'docs/docker.md > "$root/srv/docker.sh"'), 'scripts/test-package.sh takes it');
    $images = array_column(array_filter(blocks('docs/docker.md'), fn (array $block) => $block['language'] === 'dockerfile'), 'code');
    $install = fn (string $image) => preg_replace(['/^.*?(?=COPY)/s', '/ && apk del .*/'], '', $image);
    return $install($code) === $install($images[0]) ? '' : 'other commands than in the first one';
}

/** A pod: its preStop hook ends before the grace period does, and the port is PHP-FPM's. */
function pod(string $code): string
{
    require_once '/usr/share/php/Symfony/Component/Yaml/autoload.php';
    $spec = Symfony\Component\Yaml\Yaml::parse($code)['spec'];
    [$container] = $spec['containers'];
    [$command, $seconds] = $container['lifecycle']['preStop']['exec']['command'];
    typed("command -v $command", $status);
    return $status === 0 && $seconds > 0 && $seconds < $spec['terminationGracePeriodSeconds']
        && $container['readinessProbe']['tcpSocket']['port'] === 9000 ? '' : 'not such a pod';
}

/** Drawings of boxes, arrows and trees; the sources that they name exist. */
function drawing(string $code): string
{
    preg_match_all('~\bsrc/\w+~', $code, $paths);
    $missing = array_filter($paths[0], fn (string $path) => !file_exists(TOP . "/$path"));
    return implode("\n", array_map(fn (string $path) => "no $path", $missing));
}

/** A screen of "dlock watch": its head is the one that the command prints. */
function watched(string $code): string
{
    preg_match("/\\\$rows = \\[\\[('[^\\]]*')\\]\\];/", (string) file_get_contents(dirname(__DIR__, 2) . '/console/show.php'), $head);
    $columns = str_replace(["', '", "'"], ['  ', ''], $head[1] ?? '?');
    return preg_match('/^' . preg_replace('/  /', ' {2,}', preg_quote($columns, '/')) . '$/m', $code) ? '' : "there is no line with $columns";
}

// ---- the blocks -----------------------------------------------------------------------------------------------------

function rule_for(string $language, string $code): ?string
{
    $each_line = fn (string $pattern) => (bool) preg_match("~^(?:(?:$pattern).*\n)+\$~", $code);
    return match ($language) {
        'sh' => match (true) {
            $each_line('redis-cli ') => 'redis_commands',
            $each_line('dlock-doctor ') => 'doctor_commands',
            $each_line('(?:\w+=\S+ )*(?:scripts|examples)/') => 'repository_commands',
            str_starts_with($code, 'apt-get update && apt-get install ') => 'installation',
            str_starts_with($code, 'composer ') => 'composer',
            str_starts_with($code, 'phpdismod ') => 'removal',
            str_starts_with($code, 'cp -rL packages/debian') => 'debian_package',
            default => null,
        },
        'yaml' => str_starts_with($code, 'spec:') ? 'pod' : 'yaml',
        'dockerfile' => 'image',
        'sql' => $language,
        '' => match (true) {
            str_starts_with($code, '/locks/Semaphore:') => 'permit_nodes',
            $each_line('/locks') => 'zookeeper_nodes',
            str_starts_with($code, 'ACL SETUSER ') => 'acl',
            str_starts_with($code, 'problem: ') => 'doctor_report',
            str_starts_with($code, '$ dlock ') => 'watched',
            (bool) preg_match('~\|-|-\||├──| src/\w+ ~', $code) => 'drawing',
            default => null,
        },
        default => null,
    };
}

$rules = [];
foreach ([...documents(), 'examples/fail-over/README.md', 'examples/seckill/README.md', 'tests/faults/README.md', 'RELEASING.md'] as $file) {
    foreach (blocks($file) as ['line' => $line, 'language' => $language, 'code' => $code]) {
        if ($language === 'php' && in_array($file, php_documents(), true)) {
            continue;
        }
        $rule = rule_for($language, $code);
        try {
            $wrong = $rule === null ? 'there is no check for such a block' : $rule($code);
        } catch (Throwable $e) {
            $wrong = (string) $e;
        }
        if ($wrong !== '') {
            echo "$file, line $line" . ($rule ? " ($rule)" : '') . ": $wrong\n";
        }
        $rules[$rule] = true;
    }
}
holds(count($rules) >= 12, 'blocks were found', array_keys($rules));
echo "done\n";
?>
--EXPECT--
done
