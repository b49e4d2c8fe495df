--TEST--
"dlock ls --all" finds locks that the index lacks, on one server, of a RedLock, of a semaphore; "dlock metrics" is OpenMetrics text with queues and stocks
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
require __DIR__ . '/../inc/seen.inc';
require __DIR__ . '/../inc/handover.inc';
require __DIR__ . '/../inc/openmetrics.inc';

/** The resources that "dlock ls" lists. @return list<string> */
function listed(array $options, string ...$more): array
{
    $run = dlock([...$options, 'ls', '--json', ...$more]);
    same([0, true], [$run->status, $run->errors === '' || str_starts_with($run->errors, 'dlock: no lock is listed of ')], 'dlock ls');
    $names = array_column(json_decode($run->output, true), 'resource');
    sort($names);
    return $names;
}

// An unrenewed lease of an hour has no description, and neither has another program's key. A prefix is no pattern.
$prefix = unique('a*[b]?\\^') . ':';
$options = ['--server=' . redis_server(), "--prefix=$prefix"];
$lease = (new DistributedLock(redis_server(), $prefix))->acquire('one', ttl: 3600);
$redis = redis_raw();
$redis->cmd('SET', "{$prefix}foreign", 'x');
$redis->cmd('SET', str_replace('*', 'xx', $prefix) . 'other', 'x');
$redis->cmd('RPUSH', "{$prefix}list", 'x');
same([[], ['foreign', 'one']], [listed($options), listed($options, '--all')], 'on one server');
$run = dlock([...$options, 'ls', '--all']);
holds(preg_match('/^one .* pid ' . getmypid() . ' .*3[56]\d\d s|59 min|60 min/m', $run->output) === 1, 'as text', $run->output);
$lease->release();
same(['foreign'], listed($options, '--all'), 'after the release');
$redis->cmd('DEL', "{$prefix}foreign", str_replace('*', 'xx', $prefix) . 'other', "{$prefix}list");

// More keys than a server returns at a time, and than are listed.
for ($i = 0, $keys = []; $i < 3000; $i++) {
    array_push($keys, "$prefix$i", 'x');
}
$redis->cmd('MSET', ...$keys);
$run = dlock([...$options, 'ls', '--all', '--json']);
same([0, 1000, "dlock: it lists no more than 1000 locks, and there may be more\n"], [$run->status, count(json_decode($run->output)), $run->errors], 'no more than a thousand, which it says');
$redis->cmd('DEL', ...array_column(array_chunk($keys, 2), 0));

// A semaphore's resources, and those of a RedLock that a majority has.
$permits = ['--server=' . redis_server(), '--class=Semaphore', "--prefix=$prefix"];
$lease = (new Dlock\Semaphore(3, redis_server(), $prefix))->acquire('pool', ttl: 3600);
same([[], ['pool']], [listed($permits), listed($permits, '--all')], "a semaphore's");
same([], listed($options, '--all'), 'which is no lock');
$lease->release();
$servers = array_map(fn ($server) => "--server=$server", redis_servers(3));
$lease = (new RedLock(redis_servers(3), prefix: $prefix))->acquire('majority', ttl: 3600);
$redis->cmd('SET', "{$prefix}minority", 'x');
$run = dlock([...$servers, "--prefix=$prefix", 'ls', '--all', '--json']);
same([['majority', 1]], array_map(fn ($lock) => [$lock['resource'], count($lock['holders'])], json_decode($run->output, true)), 'of a RedLock');
$redis->cmd('DEL', "{$prefix}minority");
$lease->release();

// Queues and stocks as metrics.
$make = fn () => new DistributedLock(redis_server(), $prefix, ttl: 60);
$resource = "quoted \"\\ \e \xff";
$keeper = keep_alive([redis_addresses()[0]], $prefix . $resource);
$claimants = [];
for ($i = 0; $i < 3; $i++) {
    $claimants[] = claimant($make, $resource, 'x');
    wait_for_parties($make(), $resource, 1, $i);
}
$stock = new Dlock\Stock(redis_server());
$stock->restock($sku = unique('ticket'), 10);
$stock->reserve([$sku => 3], 'buyer', 'order', ttl: 3600);
$run = dlock([...$options, 'metrics', "--stock=$sku"]);
same([0, ''], [$run->status, $run->errors], 'dlock metrics');
$samples = open_metrics($run->output);
$label = '{resource="quoted \\"\\\\ \\\\x1b \\\\xff"}';
same([2.0, 2.0], [$samples['dlock_server_waiting'], $samples["dlock_server_queue_length$label"] ?? array_keys($samples)], 'queues');
preg_match_all('/dlock_(?:server|stock)_\w+/', (string) file_get_contents(dirname(__DIR__, 2) . '/examples/grafana.json'), $asked);
holds($asked[0] !== [], 'the board asks for them', $asked);
same([], array_diff($asked[0], array_map(fn (string $sample) => strtok($sample, '{'), array_keys($samples))), 'what the board asks for and is not there');
holds($samples["dlock_server_queue_wait_seconds$label"] >= 0 && $samples['dlock_server_oldest_hold_seconds'] >= $samples["dlock_server_queue_wait_seconds$label"],
    'times', $samples);
same([7.0, 3.0, 0.0, 0.0], array_map(fn ($what) => $samples["dlock_stock_$what{product=\"$sku\"}"], ['available', 'reserved', 'sold', 'waiting']), 'the stock');
$keeper->kill();
foreach ($claimants as $claimant) {
    $claimant->say('go');
    same(true, $claimant->result(), 'released');
}
same([0.0, 0.0], array_values(open_metrics(dlock([...$options, 'metrics'])->output)), 'when nobody waits');
same(2, dlock([...$options, 'metrics', 'name'])->status, 'no name');
same(4, dlock(['--server=redis://127.0.0.1:1', 'metrics'])->status, 'not reached');
$stock->end($sku);
?>
Done.
--EXPECT--
Done.
