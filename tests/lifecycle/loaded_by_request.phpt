--TEST--
Loaded by dl() in each request of one process, the extension throws losses in all of them, and nothing is left of the last request
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
PHP_ZTS && die('skip needs a PHP without threads');
require __DIR__ . '/../inc/cgi.inc';
cgi_binary() !== null || die('skip no php-cgi for this PHP');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/cgi.inc';

preg_match('/\bextension=(\S*)\/(dlock\S*\.so)/', php_options(), $module) || die('no module in ' . php_options());
$script = temporary_directory() . '/request.php';
file_put_contents($script, '<?php
    require_once ' . var_export(__DIR__ . '/../inc/process.inc', true) . ';
    require_once ' . var_export(__DIR__ . '/../inc/redis_raw.inc', true) . ';
    echo extension_loaded("dlock") ? "there already\n" : "loads\n";
    dl(getenv("MODULE"));
    echo ini_get("dlock.ttl"), " ", enum_exists("Dlock\LeaseState", false) ? "with" : "without", " its classes\n";
    ini_set("dlock.ttl", "20");
    final class Kept extends Exception { public $lease; }
    $redis = new RedisRaw(getenv("ADDRESS"));
    $resource = getenv("RESOURCE");
    $locks = new DistributedLock("redis://" . getenv("ADDRESS"), onLoss: "throw");
    $lease = $locks->acquire($resource, 30);
    // Renewed, and then lost.
    $renewals = Dlock\stats()["renewals"];
    for ($lease->refresh(6.0); Dlock\stats()["renewals"] === $renewals; pause(0.01));
    try {
        $redis->cmd("DEL", "Lock:$resource");
        while (true) {
            pause(0.001);
        }
    } catch (Dlock\LeaseLostException $e) {
        echo str_replace($resource, "…", $e->getMessage()), "\n";
    }
    // A wait that a loss interrupts.
    $theirs = "$resource-theirs";
    $redis->cmd("SET", "Lock:$theirs", "somebody-else", "PX", 60000);
    try {
        $short = $locks->acquire("$resource-short", 30, 0.1);
        $locks->acquire($theirs, 30);
    } catch (Dlock\LeaseLostException $e) {
        echo str_replace($resource, "…", $e->getMessage()), "\n";
    }
    $redis->cmd("DEL", "Lock:$theirs");
    $held = $locks->acquire($resource, 30); // given back at the end
    $redis->close();
    echo count(scandir("/proc/self/task")) - 2, " threads, ", count(scandir("/proc/self/fd")) - 2, " descriptors\n";
');
$command = cgi_command(['-q', '-d', 'enable_dl=1', '-d', "extension_dir=$module[1]", '-d', 'display_errors=1', '-d', 'dlock.connect_timeout=10', '-T', '4', $script]);
$resource = unique();
// Without the test's environment, which names the test as the script.
exec("env -i MODULE=$module[2] ADDRESS=" . redis_addresses()[0] . " RESOURCE=$resource timeout 180 $command 2>&1", $lines, $code);
$lines = array_values(array_filter($lines, fn (string $line) => $line !== '' && !str_starts_with($line, 'Elapsed time')));
$each = array_chunk($lines, 5);
same(0, $code, 'exit code');
same(4, count($each), 'requests');
$lost = fn (string $what) => "The lock \"…$what\" was lost while it was held";
foreach ($each as $i => $request) {
    same(['loads', '10 with its classes', $lost(''), $lost('-short')], array_slice($request, 0, 4), "request $i");
    same($each[0][4], $request[4] ?? null, "request $i: what is open");
}
same(0, redis_raw()->cmd('EXISTS', "Lock:$resource"), 'the lock that was held at the end');
echo "done\n";
?>
--EXPECT--
done
