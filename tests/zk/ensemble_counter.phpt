--TEST--
ZkLock on an ensemble: a counter kept by four processes stays exact while leaders are killed
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

$ensemble = zk_ensemble();
$hosts = $ensemble->hosts();
$resource = unique();
$directory = temporary_directory();
file_put_contents("$directory/counter", '0');
$children = [];
for ($k = 0; $k < 4; $k++) {
    $children[$k] = fork_child(function () use ($hosts, $resource, $directory) {
        $lock = new ZkLock($hosts, sessionTimeout: 30);
        for ($i = 0; !file_exists("$directory/enough"); $i++) {
            $lock->synchronized($resource, function () use ($directory) {
                if (!@mkdir("$directory/inside")) {
                    throw new RuntimeException('another one is inside');
                }
                $n = (int) file_get_contents("$directory/counter");
                pause(0.005);
                file_put_contents("$directory/counter", (string) ($n + 1));
                rmdir("$directory/inside");
            }, 120);
        }
        return $i;
    });
}
$counter = fn () => (int) file_get_contents("$directory/counter");
$more = function (int $n) use ($counter) {
    $then = $counter();
    wait_for(fn () => $counter() > $then + $n, 120, 'more sections');
};
$more(40);
$killed = $ensemble->killLeader();
$more(40);
$ensemble->restart($killed);
$killed = $ensemble->killLeader();
$more(40);
touch("$directory/enough");
$counts = array_map(fn ($child) => $child->result(120), $children);
same(array_sum($counts), $counter(), 'the counter');
// In turn, so nobody can be far behind.
within(0.5 * max($counts), min($counts), max($counts), 'sections of the slowest');
echo "done\n";
?>
--EXPECT--
done
