--TEST--
legacy: true acquires what the old code left if the old code would, and nothing else
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$redis = redis_raw();
$legacy = new DistributedLock(redis_server(), ttl: 30, legacy: true);
$plain = new DistributedLock(redis_server(), ttl: 30);
$now = (int) $redis->cmd('TIME')[0];

/** [what is on the server, can it be acquired?] */
$values = [
    'long past' => [['SET', $now - 100_000], true],
    'just past' => [['SET', $now - 1], true],
    'past, with a fraction' => [['SET', ($now - 10) . '.4821'], true],
    'just past, with a fraction' => [['SET', ($now - 1) . '.999'], true],
    'the first of ten digits' => [['SET', '1000000000'], true],
    'future' => [['SET', $now + 1000], false],
    'future, with a fraction' => [['SET', $now + 1000 . '.5'], false],
    'far future' => [['SET', '9999999999'], false],
    'milliseconds' => [['SET', ($now - 10) . '000'], false],
    'a one that waits for its EXPIRE' => [['SET', '1'], false],
    'zero' => [['SET', '0'], false],
    'nine digits' => [['SET', '999999999'], false],
    'past, with a TTL' => [['SET', $now - 10, 'EX', 100], false],
    'nothing' => [['SET', ''], false],
    'a word' => [['SET', 'locked'], false],
    'white space in front' => [['SET', ' ' . ($now - 10)], false],
    'white space behind' => [['SET', ($now - 10) . "\n"], false],
    'a NUL behind' => [['SET', ($now - 10) . "\0"], false],
    'negative' => [['SET', '-' . ($now - 10)], false],
    'a sign' => [['SET', '+' . ($now - 10)], false],
    'a point without digits' => [['SET', ($now - 10) . '.'], false],
    'two points' => [['SET', ($now - 10) . '.1.2'], false],
    'an exponent' => [['SET', '1.7e9'], false],
    'hexadecimal' => [['SET', '0x65000000'], false],
    'a token behind it' => [['SET', ($now - 10) . ':' . str_repeat('a', 32)], false],
    "another one's token" => [['SET', '9999999999:' . str_repeat('a', 32)], false],
    "another one's token without a prefix" => [['SET', str_repeat('1', 32)], false],
    'a hash with a TTL' => [['HSET', 'owner', $now - 10], false],
];
foreach ($values as $name => [$command, $taken]) {
    $resource = unique($name);
    $key = "Lock:$resource";
    $redis->cmd(array_shift($command), $key, ...$command);
    if (str_contains($name, 'hash')) {
        $redis->cmd('EXPIRE', $key, 100);
    }
    $before = $redis->cmd('DUMP', $key);
    same(null, $plain->tryAcquire($resource), "$name: without legacy");
    same($before, $redis->cmd('DUMP', $key), "$name: untouched without legacy");
    $lease = $legacy->tryAcquire($resource);
    same($taken, $lease !== null, "$name: is it taken over?");
    if ($taken) {
        same($lease->token, $redis->cmd('GET', $key), "$name: the value");
        within(1000, $redis->cmd('PTTL', $key), 30_000, "$name: PTTL");
        within(1, $lease->remaining(), 30, "$name: remaining()");
        holds($lease->fencingToken > $now * 1_000_000, "$name: the fencing token", $lease->fencingToken);
        same(true, $legacy->isLocked($resource) && $lease->release(), "$name: release()");
        same(0, $redis->cmd('EXISTS', $key), "$name: afterwards");
    } else {
        same($before, $redis->cmd('DUMP', $key), "$name: untouched");
        $redis->cmd('DEL', $key);
    }
}

// A key of another type that never ends is an error, as without legacy: true.
$resource = unique('list');
$redis->cmd('RPUSH', "Lock:$resource", $now - 10);
fails(Dlock\ConnectionException::class, '*WRONGTYPE*', fn () => $legacy->tryAcquire($resource));
$redis->cmd('DEL', "Lock:$resource");

// In the second of the timestamp itself its holder still holds: the old code compares whole seconds.
for ($try = 0; $try < 5; $try++) {
    $resource = unique("now$try");
    $value = (int) $redis->cmd('TIME')[0];
    $redis->cmd('SET', "Lock:$resource", $value);
    $lease = $legacy->tryAcquire($resource);
    $compared = (int) $redis->cmd('TIME')[0] === $value; // otherwise the second ended in between
    if ($compared) {
        same(null, $lease, 'in the second of the timestamp');
        wait_for(fn () => (int) $redis->cmd('TIME')[0] > $value, 60, 'the next second');
        same(true, $legacy->tryAcquire($resource)?->release(), 'in the next second');
        break;
    }
}
same(true, $compared, 'the second of a timestamp was seen');

// The calls of the old classes as well.
$resource = unique('lock');
$redis->cmd('SET', "Lock:$resource", $now - 1);
same([true, true, true], [$legacy->lock($resource, 0), $legacy->isLocking($resource), $legacy->release($resource)], 'lock()');
echo "done\n";
?>
--EXPECT--
done
