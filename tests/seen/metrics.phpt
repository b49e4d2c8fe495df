--TEST--
Dlock\metrics(): totals of fifty workers, ten of them killed, gauges of those that live, and text in OpenMetrics format
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork', 'posix_kill');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/openmetrics.inc';

// The checker finds mistakes.
foreach (["a 1\n# EOF\n", "# TYPE a counter\na 1\n# EOF\n", "# TYPE a gauge\na 1\na 1\n# EOF\n", "# TYPE a gauge\na 1\n",
        "# TYPE a histogram\na_bucket{x=\"\",le=\"1.0\"} 2\na_bucket{x=\"\",le=\"+Inf\"} 1\na_count{x=\"\"} 1\na_sum{x=\"\"} 1\n# EOF\n"] as $bad) {
    holds(thrown_by(fn () => open_metrics($bad)) instanceof UnexpectedValueException, 'refused', $bad);
}

$run = unique();
$name = preg_replace('/[0-9]+/', '*', preg_replace('/[0-9a-f]{10}/', '*', $run)); // its last part is random
$locks = fn () => new DistributedLock(redis_server());
$children = [];
$taken = $locks()->acquire("$run:taken", 30);
for ($i = 0; $i < 50; $i++) {
    $children[] = fork_child(function (int $i, callable $say, callable $hear) use ($locks, $run) {
        $manager = $locks();
        for ($n = 0; $n < 20; $n++) {
            $manager->acquire("$run:$i:$n", 0, 30)->release();
        }
        same(null, $manager->tryAcquire("$run:taken"), 'what is taken');
        $lease = $manager->acquire("$run:$i", 0, 30);
        $say('holds');
        $hear();
        return $lease->release();
    }, [$i]);
}
array_map(fn (ForkedChild $child) => $child->hear(), $children);
$of = function (string $sample, string $more = '') use (&$samples) {
    $sum = 0.0;
    foreach ($samples as $key => $value) {
        $sum += str_starts_with($key, "$sample{") && str_contains($key, basename($_SERVER['SCRIPT_NAME'], '.php')) && str_contains($key, $more) ? $value : 0.0;
    }
    return $sum;
};
$samples = open_metrics(Dlock\metrics());
same([50.0 * 21 + 1, 50.0], [$of('dlock_acquisitions_total'), $of('dlock_acquire_failures_total', 'reason="timeout"')], 'acquired, and not');
same([51.0, 51.0], [$samples['dlock_workers'], $samples['dlock_held']], 'workers, and what they hold');
same(50.0 * 20, $of('dlock_hold_seconds_count'), 'held until now');
same(50.0 * 22 + 1, $of('dlock_wait_seconds_count'), 'attempts');

// Killed workers hold nothing forever, and their totals stay.
foreach (array_slice($children, 0, 10) as $child) {
    $child->kill();
}
$samples = open_metrics(Dlock\metrics());
same([41.0, 41.0], [$samples['dlock_workers'], $samples['dlock_held']], 'without ten that were killed');
same(50.0 * 21 + 1, $of('dlock_acquisitions_total'), 'acquired');
holds($samples['dlock_oldest_hold_seconds'] > 0, 'the oldest', $samples['dlock_oldest_hold_seconds']);
foreach (array_slice($children, 10) as $child) {
    $child->say('go');
    same(true, $child->result(), 'released');
}
$samples = open_metrics(Dlock\metrics());
same([1.0, 1.0], [$samples['dlock_workers'], $samples['dlock_held']], 'the parent is left');
same(50.0 * 20 + 40, $of('dlock_hold_seconds_count'), 'held until now');

// Another worker uses their slots; a waiter is counted.
$waiter = fork_child(fn (callable $say) => $say(1) ?? (bool) $locks()->acquire("$run:taken", 60)->release());
$waiter->hear();
wait_for(fn () => $locks()->inspect("$run:taken")->waiting === 1, 60, 'the waiter');
same(1.0, open_metrics(Dlock\metrics())['dlock_waiting'], 'who waits');
$taken->release();
same(true, $waiter->result(), 'it has got it');
$samples = open_metrics(Dlock\metrics());
same([0.0, 0.0, 1.0], [$samples['dlock_waiting'], $samples['dlock_held'], $of('dlock_handovers_total')], 'in the end');

// Names are few: numbers are left out, and beyond the maximum there is one name for all.
$folded = [
    'order:42' => 'order:*', 'cart-6f1c2ab09d' => 'cart-*', '9b2f8c1e-7d4a-4e6b-8c0f-1a2b3c4d5e6f:x' => '*:x', // a UUID
    'order-01J9ZK6W3M8Q4V7T2R5XNHBCDE' => 'order-*', '01j9zk6w3m8q4v7t2r5xnhbcde' => '*', // a ULID
    'order-81J9ZK6W3M8Q4V7T2R5XNHBCDE' => 'order-*J*ZK*W*M*Q*V*T*R*XNHBCDE', '01J9ZK6W3M8Q4V7T2R5XNHBCDU' => '*J*ZK*W*M*Q*V*T*R*XNHBCDU', // no ULIDs
    'beefcake' => 'beefcake',
];
foreach ($folded as $name => $label) {
    $locks()->acquire((string) $name, 0, 30)->release();
    holds(isset(open_metrics(Dlock\metrics())["dlock_acquisitions_total{class=\"single\",name=\"$label\"}"]), "the label of $name");
}
for ($i = 0; $i < 80; $i++) {
    $locks()->acquire("$run-" . str_repeat('x', $i), 0, 30)->release();
}
$samples = open_metrics(Dlock\metrics());
holds(($samples['dlock_acquisitions_total{class="",name="other"}'] ?? 0) >= 16, 'the rest', $samples['dlock_acquisitions_total{class="",name="other"}'] ?? null);
same(65, count(preg_grep('/^dlock_acquisitions_total/', array_keys($samples))), 'how many names');

// The board asks for metrics that exist.
$board = (string) file_get_contents(dirname(__DIR__, 2) . '/examples/grafana.json');
holds(is_array(json_decode($board, true)['panels'] ?? null), 'a board');
preg_match_all('/dlock_\w+/', $board, $asked);
$known = array_unique(array_map(fn (string $sample) => strtok($sample, '{'), array_keys($samples)));
$of_server = preg_grep('/^dlock_(server|stock)_/', $asked[0]); // list.phpt tests those of "dlock metrics"
same([], array_values(array_diff(array_unique($asked[0]), $known, $of_server)), 'metrics that the board asks for and are not there');
?>
Done.
--EXPECT--
Done.
