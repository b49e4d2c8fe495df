--TEST--
Runtimes: in FrankenPHP's worker mode requests end by themselves (with a program that has its name)
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_compiler('-lphp' . PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION);
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/strands.inc';
require __DIR__ . '/../inc/seen.inc';

/** Compiles one of tests/runtimes/programs. */
function program(string $name, string $options): string
{
    $file = temporary_directory() . "/$name";
    $config = getenv('PHP_CONFIG') ?: 'php-config';
    exec('gcc -O1 -o ' . escapeshellarg($file) . ' ' . escapeshellarg(__DIR__ . "/programs/$name.c") . " $($config --includes) $options 2>&1", $output, $code);
    $code === 0 || throw new RuntimeException(implode("\n", $output));
    return $file;
}

$worker = program('worker', '-lphp' . PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION);
$directory = temporary_directory();
preg_match('~extension="?([^"\s]*dlock[^"\s]*)~', php_options(), $found);
file_put_contents("$directory/php.ini", "extension=$found[1]\ndlock.server=" . redis_server() . "\n");
file_put_contents("$directory/worker.php", '<?php
$lock = new DistributedLock();
$own = $lock->acquire("$argv_resource-own", 0);
$lease = null;
for ($i = 0; $i < 3; $i++) {
    frankenphp_handle(function () use ($lock, &$lease, $i) {
        $i === 1 && Dlock\setLabel("job 7");
        $lock->acquire("' . ($taken = unique('taken')) . '$i", 60)->release();
        $lease = $lock->acquire("' . ($resource = unique('request')) . '", 0);
        $lock->lock("' . $resource . '-name", 0);
        (new Fiber(fn () => $lock->lock("' . $resource . '-fiber", 0)))->start();
    });
    echo json_encode([$lease->isHeld(), $lock->isLocked("' . $resource . '"), $lock->isLocked("' . $resource . '-name"), $lock->isLocked("' . $resource . '-fiber"), $own->isHeld()]), "\n";
}
');
$code = str_replace('$argv_resource', $resource, file_get_contents("$directory/worker.php"));
file_put_contents("$directory/worker.php", $code);
$locks = new DistributedLock(redis_server());
$leases = array_map(fn (int $i) => $locks->acquire("$taken$i", 0), range(0, 2));
$command = ['env', 'PHP_INI_SCAN_DIR=', "PHPRC=$directory", 'setpriv', '--pdeathsig', 'KILL', $worker, "$directory/worker.php"];
$process = proc_open($command, [['file', '/dev/null', 'r'], ['file', "$directory/out", 'w'], ['redirect', 1]], $pipes);
$labels = [];
foreach ($leases as $i => $lease) {
    $labels[] = wait_for_parties($locks, "$taken$i", 1, 1)->waiters[0]->label;
    $lease->release();
}
same(['GET /1', 'job 7', 'GET /3'], $labels, 'the label of each request');
wait_for(function () use ($process, &$status) {
    $status = proc_get_status($process);
    return !$status['running'];
}, 60, 'the end of the worker');
[$status, $output] = [$status['exitcode'], file("$directory/out", FILE_IGNORE_NEW_LINES)];
same([0, array_fill(0, 3, '[false,false,false,false,true]')], [$status, $output], 'three requests of a worker');
same(false, $locks->isLocked("$resource-own"), 'the worker has ended');
echo "done\n";
?>
--EXPECT--
done
