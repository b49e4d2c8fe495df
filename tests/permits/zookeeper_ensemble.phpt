--TEST--
ZkLock, Semaphore and ReadWriteLock on an ensemble: never more holders than there is room for while leaders are killed, and all processes have their turns
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
skip_unless_functions('pcntl_fork', 'posix_kill');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';

use Dlock\ReadWriteLock;
use Dlock\Semaphore;

$ensemble = zk_ensemble();
$hosts = $ensemble->hosts();
$server = "zookeeper://$hosts?session_timeout=60";
$resource = unique();
$directory = temporary_directory();
$log = "$directory/log";
touch($log);
$children = [];
for ($k = 0; $k < 5; $k++) {
    $children[$k] = fork_child(function () use ($hosts, $server, $resource, $directory, $log, $k) {
        $semaphore = new Semaphore(3, $server);
        $sides = new ReadWriteLock($server);
        $lock = new ZkLock($hosts, sessionTimeout: 60);
        $say = fn (string $text) => file_put_contents($log, "$text $k\n", FILE_APPEND);
        $section = function (string $what) use ($say) {
            $say($what);
            pause(0.03); // with three servers each step wakes dozens of threads
            $say('ends');
        };
        for ($i = $k; !file_exists("$directory/enough"); $i++) {
            $permits = 1 + $i % 2;
            $semaphore->synchronized($resource, fn () => $section("permits-$permits"), $permits, 120);
            $side = $i % 3 ? 'readLock' : 'writeLock';
            $sides->{$side}()->synchronized($resource, fn () => $section($side), 120);
            $lock->synchronized("$resource-lock", fn () => $section('lock'), 120);
        }
        return $i - $k;
    });
}
$sections = fn () => substr_count(file_get_contents($log), 'ends');
$more = function (int $n) use ($sections) {
    $then = $sections();
    wait_for(fn () => $sections() > $then + $n, 120, 'more sections');
};
$more(40);
$killed = $ensemble->killLeader();
$more(40);
$ensemble->restart($killed);
$ensemble->killLeader();
$more(40);
touch("$directory/enough");
$counts = array_map(fn ($child) => $child->result(120), $children);

$inside = ['permits' => [], 'sides' => [], 'lock' => []];
foreach (file($log, FILE_IGNORE_NEW_LINES) as $i => $line) {
    [$what, $k] = explode(' ', $line);
    if ($what === 'ends') {
        unset($inside['permits'][$k], $inside['sides'][$k], $inside['lock'][$k]);
    } elseif (str_starts_with($what, 'permits-')) {
        $inside['permits'][$k] = (int) substr($what, 8);
        holds(array_sum($inside['permits']) <= 3, "line $i: permits", $inside['permits']);
    } elseif ($what === 'lock') {
        $inside['lock'][$k] = true;
        same([$k => true], $inside['lock'], "line $i: holders");
    } else {
        $inside['sides'][$k] = $what;
        holds(!in_array('writeLock', $inside['sides'], true) || count($inside['sides']) === 1, "line $i: readers and writers", $inside['sides']);
    }
}
// The waiters are served in turn, so none can be far behind.
within(0.4 * max($counts), min($counts), max($counts), 'sections of the slowest');
echo "done\n";
?>
--EXPECT--
done
