--TEST--
memcached: a request's locks are free when it ends, however it ends, unless releaseOnShutdown is false; a killed process' locks expire
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_memcached();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/memcached.inc';

$server = new PrivateMemcached();
$raw = $server->raw();
$takes = [
    'lock()' => '$lock = new DistributedLock($argv[1]OPTIONS); $lock->lock($argv[2], 0, 1000);',
    'a Lease' => '$lease = (new DistributedLock($argv[1]OPTIONS))->acquire($argv[2], 0);',
    'a Lease, attached' => '$lock = new DistributedLock($argv[1]OPTIONS); $lease = $lock->attach($lock->acquire($argv[2], 0, 1000)->detach());',
    'a section' => '(new DistributedLock($argv[1]OPTIONS))->synchronized($argv[2], function () { END });',
];
$ends = ['the end' => '', 'exit' => 'exit;', 'an exception' => 'throw new Exception();',
    'a fatal error' => 'eval("abstract class A { abstract function f(); } class B extends A {}");', 'a handler of SIGTERM' => 'pcntl_signal(SIGTERM, fn () => exit); posix_kill(getmypid(), SIGTERM); pcntl_signal_dispatch();'];
$settings = [['', '', false], ['', '-d dlock.release_on_shutdown=0', true], [', releaseOnShutdown: false', '', true], [', releaseOnShutdown: true', '-d dlock.release_on_shutdown=0', false]];
foreach ($takes as $take => $code) {
    foreach ($settings as $i => [$options, $ini, $left]) {
        foreach ($i === 0 ? $ends : array_slice($ends, 1, 1) as $end => $end_code) {
            $resource = 'r-' . md5("$take $i $end");
            $code_of = str_contains($code, 'END') ? str_replace(['OPTIONS', 'END'], [$options, $end_code], $code) : str_replace('OPTIONS', $options, $code) . $end_code;
            php_child($code_of, [$server->dsn(), $resource], "$ini -d dlock.shutdown_timeout=60")->wait();
            same($left && $take !== 'a section', $raw->get("Lock:$resource") !== null, "$take, settings $i, $end: is it left?");
        }
    }
}

// A killed process: its locks end with their leases.
$child = php_child('
    $lease = (new DistributedLock($argv[1], ttl: (float) $argv[2]))->acquire("killed");
    echo "held\n";
    fgets(STDIN);
', [$server->dsn(), (string) MEMCACHED_TTL]);
same('held', $child->readLine(), 'a process that is to be killed');
$child->signal(SIGKILL);
same(128 + SIGKILL, $child->wait(), 'its end');
same(true, (new DistributedLock($server->dsn()))->lock('killed', 60), 'the lock of a process that was killed');

// If the server does not answer, a request ends nevertheless.
$child = php_child('
    $lock = new DistributedLock($argv[1] . "?connect_timeout=60&read_timeout=60");
    $lease = $lock->acquire("r", 0, 1000);
    echo "held\n";
    fgets(STDIN);
', [$server->dsn()]);
$child->readLine();
$server->pause();
$time = seconds(fn () => same(0, $child->wait(), 'the exit code'));
within(0, $time, SOON, 'seconds until a request has ended whose server stands still');
$server->resume();
echo "done\n";
?>
--EXPECT--
done
