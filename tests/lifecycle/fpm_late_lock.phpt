--TEST--
php-fpm: what a session's handler locks when the request's locks have been released already is free when the request is over
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
$fpm->stop();
echo "done\n";
?>
--EXPECT--
done
