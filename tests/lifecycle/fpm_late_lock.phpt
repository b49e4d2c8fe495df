--TEST--
php-fpm: locks that a session's handler acquires after the request's locks were released are free after the request; its label ends, too
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_fpm();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$fpm = fpm_start(['display_errors' => 1, 'html_errors' => 0, 'log_errors' => 0], 1);
$script = $fpm->script('session', '
    class Handler implements SessionHandlerInterface
    {
        public function __construct(private array $servers, private string $key, private ?Dlock\Lease $lease = null) {}
        public function open(string $path, string $name): bool { return true; }
        public function close(): bool { return true; }
        public function read(string $id): string { return ""; }
        public function destroy(string $id): bool { return true; }
        public function gc(int $lifetime): int { return 0; }
        public function write(string $id, string $data): bool
        {
            $single = new DistributedLock($this->servers[0]);
            $red = new RedLock($this->servers, prefix: "Lock:", renew: true);
            $this->lease = $single->acquire("$this->key-lease", 0);
            $got = [$this->lease->isHeld(), $single->lock("$this->key-lock", 0), is_array($red->lock("$this->key-red", 60_000))];
            Dlock\setLabel("late-" . $_GET["key"]);
            file_put_contents($_GET["got"], json_encode($got));
            return true;
        }
    }
    session_set_save_handler(new Handler(explode(",", $_GET["servers"]), $_GET["key"]), false); // not as a shutdown function
    session_start(["use_cookies" => 0, "cache_limiter" => ""]);
');
$key = unique();
$got = temporary_directory() . '/got';
same('', $fpm->request($script, ['servers' => implode(',', redis_servers(3)), 'key' => $key, 'got' => $got]), 'the answer');
wait_for(fn () => is_file($got) && file_get_contents($got) === '[true,true,true]', 60, 'the locks that the handler takes');
foreach (['lease', 'lock', 'red'] as $name) {
    foreach (array_slice(redis_addresses(), 0, 3) as $i => $address) {
        wait_for(fn () => redis_raw($i)->cmd('EXISTS', "Lock:$key-$name") === 0, 60, "the end of $name on server $i");
    }
}

// Without a lock that lasts until then: a label, or the description of a lock that was released.
$code = '
    class Handler implements SessionHandlerInterface
    {
        public function open(string $path, string $name): bool { return true; }
        public function close(): bool { return true; }
        public function read(string $id): string { return ""; }
        public function destroy(string $id): bool { return true; }
        public function gc(int $lifetime): int { return 0; }
        public function write(string $id, string $data): bool
        {
            $_GET["late"] === "label" ? Dlock\setLabel("late") : (new DistributedLock("memory://"))->acquire("y")->release();
            return true;
        }
    }
    session_set_save_handler(new Handler(), false);
    session_start(["use_cookies" => 0, "cache_limiter" => ""]);
    echo json_encode(Dlock\setLabel(null));
';
$one = $fpm->script('one', $code);
$two = $fpm->script('two', '
    $locks = new DistributedLock($_GET["server"], ttl: 3);
    $lease = $locks->acquire($_GET["key"]);
    echo wait_for(fn () => $locks->inspect($_GET["key"])->holders[0]->label, 60, "the label");
');
same('null', $fpm->request($one, ['late' => 'label']), 'the label of the request before');
same('null', $fpm->request($one, ['late' => 'lock']), 'the label that a session\'s handler has set');
same('GET /two.php', $fpm->request($two, ['server' => redis_server(), 'key' => $key]), 'what others see of the next request');
$fpm->stop();
echo "done\n";
?>
--EXPECT--
done
