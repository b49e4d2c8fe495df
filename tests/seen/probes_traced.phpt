--TEST--
USDT: a tracer receives the resource and its length, the back end, the outcome, and the times of waiting and holding
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_tracer();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

const TRACED = <<<'PHP'
    <?php
    [, $include, $address, $name] = $argv;
    require $include;
    $locks = new DistributedLock("redis://$address", ttl: 60);
    $lease = $locks->acquire($name, ttl: 60);
    $locks->tryAcquire($name, 0.05);
    $lease->release();
    $lease = $locks->acquire(["$name-1", "$name-2"], ttl: 60);
    (new RedisRaw($address))->cmd('DEL', "Lock:$name-1");
    try {
        $lease->refresh();
    } catch (Dlock\LeaseLostException) {
        $lease->isHeld();
    }
    PHP;
/** What the tracer prints at each probe, from its arguments. */
const PROBES = [
    'acquire__start' => '"%s %lu %s\n", (char *) $_probe_arg0, $_probe_arg1, (char *) $_probe_arg2',
    'acquire__done' => '"%s %lu %d %ld\n", (char *) $_probe_arg0, $_probe_arg1, (int) $_probe_arg2, (long) $_probe_arg3',
    'release' => '"%s %lu %ld\n", (char *) $_probe_arg0, $_probe_arg1, (long) $_probe_arg2',
    'loss' => '"%s %lu\n", (char *) $_probe_arg0, $_probe_arg1',
];

$directory = temporary_directory();
file_put_contents("$directory/traced.php", TRACED);
$commands = "set pagination off\nset debuginfod enabled off\ncatch load dlock\nrun\ndelete\n";
foreach (PROBES as $probe => $arguments) {
    $commands .= "break -probe-stap dlock:$probe\ncommands\nsilent\nprintf \"PROBE $probe \"\nprintf $arguments\ncontinue\nend\n";
}
file_put_contents("$directory/gdb", "{$commands}continue\n");
$name = unique('traced');
$words = implode(' ', array_map(escapeshellarg(...), ["$directory/traced.php", dirname(__DIR__) . '/inc/redis_raw.inc', redis_addresses()[0], $name]));
$out = (string) shell_exec("gdb -nx -batch -x $directory/gdb --args " . PHP_BINARY . ' ' . php_options() . " $words 2>&1 < /dev/null");
preg_match_all('/^PROBE (\w+) (.*)/m', $out, $found, PREG_SET_ORDER);

$length = strlen($name);
$both = "$name-1, $name-2 " . (2 * $length + 6);
$expected = [
    ['acquire__start', "$name $length single"], ['acquire__done', "$name $length 0 0"],
    ['acquire__start', "$name $length single"], ['acquire__done', "$name $length 1 NS"],
    ['release', "$name $length NS"],
    ['acquire__start', "$both single"], ['acquire__done', "$both 0 0"], ['loss', $both], ['release', "$both NS"],
];
$times = [];
$seen = array_map(function (array $probe) use (&$times) {
    return [$probe[1], preg_replace_callback('/ (\d{6,})$/', function (array $time) use (&$times) {
        $times[] = (int) $time[1];
        return ' NS';
    }, $probe[2])];
}, $found);
same($expected, $seen, "what is traced, of $out");
holds($times[0] >= 50_000_000 && $times[1] >= $times[0], 'waited, then held for longer', $times);
echo "done\n";
?>
--EXPECT--
done
