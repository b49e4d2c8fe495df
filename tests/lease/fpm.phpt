--TEST--
php-fpm releases a request's renewed leases at its end, however it ends, and the worker's threads and descriptors stay the same
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_fpm();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/lease.inc';

$fpm = fpm_start([], 1);
$all = renewed_locks_and_pools();
$script = $fpm->script('leases', '
    require_once ' . var_export(dirname(__DIR__) . '/inc/lease.inc', true) . ';
    $lock = new DistributedLock($_GET["server"], ttl: $_GET["ttl"]);
    $red = new RedLock(explode(",", $_GET["servers"]), prefix: "Lock:", ttl: $_GET["ttl"]);
    $kept = [$lock->acquire($_GET["resource"]), $red->acquire($_GET["resource"] . "-red")];
    $lock->lock($_GET["resource"] . "-locked") || exit("not locked");
    $GLOBALS["cycle"] = (object) ["lease" => $lock->acquire($_GET["resource"] . "-cycle")];
    $GLOBALS["cycle"]->self = $GLOBALS["cycle"];
    busy($_GET["time"]);
    echo getmypid(), " ", json_encode([$kept[0]->isHeld(), $kept[1]->isHeld()]);
    flush();
    function fatal() { eval("abstract class A { abstract function f(); } class B extends A {}"); }
    match ($_GET["end"]) {
        "exit" => (function () { exit; })(),
        "exception" => throw new LogicException("of the request"),
        "fatal" => fatal(),
        "timeout" => reach_time_limit(),
        "section" => $lock->synchronized($_GET["resource"] . "-section", function () { exit; }),
        "lost" => (function () {
            $lost = patiently(fn () => (new DistributedLock($_GET["server"], ttl: 3, onLoss: "throw"))->acquire($_GET["resource"] . "-lost", 60));
            take_away(new Locks("DistributedLock", [substr($_GET["server"], 8)]), $lost->resource);
            while (true) { nap(0.001); }
        })(),
        default => null,
    };
');
$names = fn (string $resource) => ['DistributedLock' => [$resource, "$resource-locked", "$resource-cycle", "$resource-section"], 'RedLock' => ["$resource-red"]];
const TTL = 30; // the same for all: the renewal thread's connections are those of a lease time
$request = function (string $end, float $time) use ($fpm, $script, $all, $names): int {
    $resource = unique("$end-" . bin2hex(random_bytes(4)));
    $answer = $fpm->request($script, ['server' => redis_server(), 'servers' => implode(',', redis_servers(3)), 'resource' => $resource,
        'end' => $end, 'time' => $time, 'ttl' => TTL], 60);
    [$pid, $held] = explode(' ', $answer, 2) + ['0', ''];
    holds(str_starts_with($held, '[true,true]'), "$end: held for $time s", $answer);
    if ($end === 'lost') {
        holds(str_contains($answer, 'was lost while it was held'), 'lost: thrown', $answer);
        clean_up($all['DistributedLock'], "$resource-lost");
    }
    foreach ($names($resource) as $name => $resources) {
        foreach ($resources as $each) { // within a lease time, which would end them as well
            $ended = busy_until(fn () => array_filter(values_of($all[$name], $each)) === [], TTL);
            holds($ended !== null && $ended < TTL / 2, "$end: $each is released at the end", $ended);
        }
    }
    return (int) $pid;
};

$ends = ['nothing', 'exit', 'exception', 'fatal', 'section', 'lost'];
foreach ($ends as $end) { // opens all that is opened once
    $worker = $request($end, $end === 'nothing' ? TTL / 3 + 1 : 0.4); // the first one is renewed
}
same(2, threads($worker), 'threads of the worker');
nap(0.5); // php-fpm closes a request's connection a little later
$before = belongings($worker);
$same = fn (string $what) => busy_until(fn () => belongings($worker) === $before, 60) ?? same($before, belongings($worker), $what);
for ($i = 0; $i < 60; $i++) {
    $end = $ends[$i % count($ends)];
    same($worker, $request($end, $i % 20 ? 0.01 : 0.5), "request $i: the worker");
    $same("after request $i ($end)");
}
same($worker, $request('timeout', 0), 'the time limit: the worker');
$same('after the time limit');

// ---- without requests, the renewal thread rests ----
$thread = current(array_diff(scandir("/proc/$worker/task"), ['.', '..', (string) $worker]));
$of_thread = fn () => (int) preg_replace('/.*^voluntary_ctxt_switches:\s*(\d+).*/ms', '$1', file_get_contents("/proc/$worker/task/$thread/status"));
nap(TTL / 3 + 1); // it has looked once more
for ($attempt = 0, $rests = false; $attempt < 5 && !$rests; $attempt++) { // or will, on a machine that stood still
    $slept = $of_thread();
    nap(2);
    $rests = $slept === $of_thread();
}
holds($rests, 'the thread is at rest');

// ---- a lock that the request leaves behind is not renewed after it ----
$left = $fpm->script('left', '
    $lock = new DistributedLock($_GET["server"], ttl: 5, releaseOnShutdown: false);
    $lock->lock($_GET["resource"], 0);
    $GLOBALS["lease"] = $lock->acquire($_GET["resource"] . "-lease", 0);
    echo getmypid();
');
$resource = unique('left');
$fpm->request($left, ['server' => redis_server(), 'resource' => $resource]);
$there = values_of($all['DistributedLock'], $resource);
holds($there !== [null], 'it is left');
foreach ([$resource, "$resource-lease"] as $each) {
    wait_for(fn () => values_of($all['DistributedLock'], $each) === [null], 60, "$each to run out");
}
$same('at the end');
$fpm->stop();
echo "done\n";
?>
--EXPECT--
done
