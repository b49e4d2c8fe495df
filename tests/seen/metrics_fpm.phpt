--TEST--
examples/metrics.php under PHP-FPM: each worker's answer has the counts of all workers
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
require __DIR__ . '/../inc/openmetrics.inc';

$fpm = fpm_start(['dlock.server' => '"' . redis_server() . '"'], 3);
$work = $fpm->script('work', '
    $lease = (new DistributedLock())->acquire("shop:" . $_GET["n"]);
    pause(0.005);
    echo getmypid();
');
$metrics = $fpm->script('metrics', substr((string) file_get_contents(dirname(__DIR__, 2) . '/examples/metrics.php'), strlen('<?php')));
$workers = [];
for ($i = 0; $i < 10; $i++) {
    foreach (array_map(fn ($k) => $fpm->send($work, ['n' => "$i$k"]), [0, 1, 2]) as $request) {
        $workers[$request->response()] = true;
    }
}
holds(count($workers) > 1, 'several workers', array_keys($workers));
$response = $fpm->send($metrics, [])->response(headers: true);
holds(str_contains($response, 'application/openmetrics-text; version=1.0.0; charset=utf-8'), 'its type', $response);
$samples = open_metrics(substr((string) strstr($response, "\r\n\r\n"), 4));
same(30.0, $samples['dlock_acquisitions_total{class="single",name="shop:*"}'], 'acquired by all workers');
same(30.0, $samples['dlock_hold_seconds_count{class="single",name="shop:*"}'], 'and given back at the ends of requests');
same(0.0, $samples['dlock_held'], 'nothing is held');
within(1, $samples['dlock_connections_total'], 9, 'connections');
?>
Done.
--EXPECT--
Done.
