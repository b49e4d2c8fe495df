--TEST--
Dlock\metrics() in forked processes: each count is added once, and a parent's lock is the parent's; numbers have a point in any locale
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/descriptors.inc';
require __DIR__ . '/../inc/openmetrics.inc';

function totals(): array
{
    $samples = open_metrics(Dlock\metrics());
    return [$samples['dlock_reservations_total{outcome="reserved"}'], $samples['dlock_reservations_total{outcome="confirmed"}'],
        $samples['dlock_connections_total'], $samples['dlock_renewal_failures_total']];
}

// ---- counts ----
$server = redis_private();
$dsn = $server->dsn() . '?read_timeout=0.05';
$stock = new Dlock\Stock('memory://');
$stock->restock('shoe', 10);
$locks = new DistributedLock($dsn);
// A renewal that fails, and what is counted at the request's end or by metrics(), which comes last.
$lease = patiently(fn () => (new DistributedLock($dsn, ttl: 3))->acquire('renewed'));
$server->pause();
wait_for(fn () => Dlock\stats()['renewal_failures'] > 0, 60, 'a renewal without an answer');
$server->resume();
thrown_by(fn () => $lease->release()); // without an answer, perhaps
$stock->reserve('shoe', 'ann', '1')->confirm();
[, , $connections, $failures] = $mine = [1.0, 1.0, (float) Dlock\stats()['connections'], (float) Dlock\stats()['renewal_failures']];
for ($i = 0; $i < 3; $i++) { // they end without a call
    fork_child(fn () => null)->result();
}
same($mine, totals(), 'children that do nothing');
fork_child(function () use ($stock, $dsn) {
    $stock->restock('shoe', 10); // a child has a memory of its own
    $stock->reserve('shoe', 'bob', '2');
    patiently(fn () => (new DistributedLock($dsn, ttl: 3))->acquire('child')->release());
})->result();
[$reserved, $confirmed, $more, $failed] = totals();
same([2.0, 1.0, $failures], [$reserved, $confirmed, $failed], 'a child that reserves');
holds($more > $connections, 'its connections', $more, $connections);

// ---- a worker that lives on publishes its counts when a request of it ends ----
$child = fork_child(function (callable $say, callable $hear) use ($stock) {
    $stock->restock('shoe', 10);
    $stock->reserve('shoe', 'eve', '3')->confirm();
    Dlock\endRequest();
    $say('ended');
    $hear();
});
$child->hear();
same([3.0, 2.0], array_slice(totals(), 0, 2), 'a worker whose request has ended');
$child->say('go');
$child->result();
same([3.0, 2.0], array_slice(totals(), 0, 2), 'once');

// ---- the oldest hold ----
$table = new DistributedLock('memory://');
$lease = $table->acquire('parent');
$child = fork_child(function (callable $say, callable $hear) use ($table) {
    [$one, $two] = [$table->acquire('one'), $table->acquire('two')];
    $one->release();
    $two->release();
    $say('released');
    $hear();
});
$child->hear();
$lease->release();
$samples = open_metrics(Dlock\metrics());
same([2.0, 0.0, 0.0], [$samples['dlock_workers'], $samples['dlock_held'], $samples['dlock_oldest_hold_seconds']], 'after the release in the parent');

// ---- a reader that cannot read when processes have started, as of another user's with hidepid ----
limit_descriptors(100);
$samples = open_metrics(with_descriptors(0, fn () => Dlock\metrics()));
same(2.0, $samples['dlock_workers'], 'workers whose start is unknown');
$child->say('go');
$child->result();

// ---- a locale with a comma ----
$directory = temporary_directory();
exec('localedef -c -i de_DE -f UTF-8 ' . escapeshellarg("$directory/de_DE.UTF-8") . ' 2>&1', $output);
$child = php_child('
    setlocale(LC_ALL, "de_DE.UTF-8") && localeconv()["decimal_point"] === "," || exit("no locale");
    $lease = (new DistributedLock("memory://"))->acquire("x");
    (new DistributedLock("memory://"))->acquire("y")->release();
    echo Dlock\metrics();
', [], '', ['LOCPATH' => $directory]);
$text = $child->readAll();
$samples = thrown_by(fn () => open_metrics($text));
same(null, $samples?->getMessage(), 'in a locale with a comma: ' . ($samples ? implode("\n", $output) : ''));
holds(str_contains($text, ',le="0.0025"}') && str_contains($text, ',le="60.0"}'), 'bounds of histograms', $text);
?>
Done.
--EXPECT--
Done.
