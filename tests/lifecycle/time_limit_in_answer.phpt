--TEST--
A time limit that ends while the server answers acquire(): the lock is free afterwards, and the process keeps no memory of it
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_async_signals', 'posix_kill');
PHP_ZTS && die('skip needs a PHP without threads'); // with threads a time limit belongs to a thread
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/lease.inc';

// PHP's web server runs many requests in one process, and has pcntl. With long keys, lost memory shows.
const ROUNDS = 8;
const PREFIX = 1 << 20;
$router = temporary_directory() . '/router.php';
file_put_contents($router, '<?php
    pcntl_async_signals(true);
    pcntl_signal(SIGUSR1, function () {
        throw new DomainException("of the handler");
    });
    set_time_limit(1000);
    $locks = new DistributedLock($_GET["server"] . "?read_timeout=20", str_repeat("x", ' . PREFIX . '), 60.0);
    touch($_GET["marker"]);
    $locks->acquire("x", 10);
    echo "acquired\n";
');

/** KiB of the process after some requests have ended in this way. */
function size_after(int $signal, string $text, string $router): int
{
    $server = redis_private();
    $php = php_child('', [$router], '-d display_errors=1 -d html_errors=0 -S 127.0.0.1:0');
    $address = wait_for(fn () => preg_match('~http://(127.0.0.1:\d+)\)? started~', (string) $php->readLine(), $found) ? $found[1] : null, 60, 'the web server');
    for ($i = 0; $i < ROUNDS; $i++) {
        $marker = temporary_directory() . '/asks';
        $server->pause();
        $request = stream_socket_client("tcp://$address");
        fwrite($request, 'GET /?' . http_build_query(['server' => $server->dsn(), 'marker' => $marker]) . " HTTP/1.0\r\n\r\n");
        wait_for(fn () => file_exists($marker), 60, 'acquire()');
        wait_for(fn () => preg_match('/^State:\s+S/m', file_get_contents("/proc/$php->pid/status")), 60, 'the wait for the answer');
        $php->signal($signal);
        wait_for(fn () => !preg_match('/^S[ih][gd]Pnd:\s+0*[1-9a-f]/m', file_get_contents("/proc/$php->pid/status")), 60, 'the signal');
        $server->resume();
        $answer = read_to_end($request, 30);
        holds(str_contains($answer, $text) && !str_contains($answer, 'acquired'), "a request and signal $signal", $answer);
        wait_until_gone($server->raw(), str_repeat('x', PREFIX + 1));
    }
    return resident($php->pid);
}

// SIGPROF: the system sends it when a time limit has passed.
$more = size_after(SIGPROF, 'Maximum execution time', $router) - size_after(SIGUSR1, 'Uncaught DomainException: of the handler', $router);
// The keys of one lock are three times as long as the prefix.
within(-2 * PREFIX * ROUNDS / 1024, $more, 2 * PREFIX * ROUNDS / 1024, 'KiB that time limits leave');
if (getenv('DLOCK_TEST_SHOW')) {
    fprintf(STDERR, "%d KiB more\n", $more);
}
echo "done\n";
?>
--EXPECT--
done
