--TEST--
legacy: true: PHP code that compares the value of the lock's key with the time never finds that the lock has ended
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/legacy.inc';

$redis = redis_raw();
$legacy = new DistributedLock(redis_server(), ttl: 30, legacy: true);
$plain = new DistributedLock(redis_server(), ttl: 30);

/** The ways in which old code asks whether a lock has ended. */
$ways = [
    '$value < time()' => fn (string $value) => $value < time(),
    '$value <= time()' => fn (string $value) => $value <= time(),
    'time() > $value' => fn (string $value) => time() > $value,
    '$value < wall_clock()' => fn (string $value) => $value < wall_clock(),
    '(int) $value < time()' => fn (string $value) => (int) $value < time(),
    'intval($value) <= time()' => fn (string $value) => intval($value) <= time(),
    '(float) $value < wall_clock()' => fn (string $value) => (float) $value < wall_clock(),
    'strcmp($value, time()) < 0' => fn (string $value) => strcmp($value, (string) time()) < 0,
    '$value <=> time()' => fn (string $value) => ($value <=> time()) < 0,
    '$value - time() < 0' => fn (string $value) => @($value - time()) < 0,
    '$value < time(), as PHP 7 compares: by the number at the front' => fn (string $value) => (float) $value < time(),
];
for ($i = 0; $i < 100; $i++) {
    $lease = $legacy->acquire(unique(), 0);
    $value = $redis->cmd('GET', 'Lock:' . unique());
    same($lease->token, $value, 'the value');
    same(1, preg_match('/^9999999999:[0-9a-f]{44}$/D', $value), 'its form');
    foreach ($ways as $name => $ended) {
        same(false, $ended($value), "$name for $value");
    }
    $lease->release() || print "not released\n";
}
// So tokens need a prefix: without one they may begin with any digits.
same(true, '0' . str_repeat('a', 31) < time() && '16' . str_repeat('f', 30) < time(), 'tokens without a prefix look ended');

// Handles of either form work with a manager of either mode. The lock has the form of the manager that attaches it.
$lengths = [[$legacy, 55], [$plain, 44]];
foreach ($lengths as [$from, $length]) {
    foreach ($lengths as [$to, $attached_length]) {
        $lease = $from->acquire(unique('handle'), 0);
        same($length, strlen($lease->token), 'length of the token');
        $attached = $to->attach($lease->detach());
        holds($attached->token !== $lease->token, 'another token');
        same([$attached_length, $to === $legacy], [strlen($attached->token), str_starts_with($attached->token, '9999999999:')], 'its form');
        same($attached->token, $redis->cmd('GET', 'Lock:' . unique('handle')), 'the value attached');
        $attached->refresh(20);
        same([true, false], [$attached->release(), $from->isLocked(unique('handle'))], 'release() of what was attached');
    }
}

// Made-up handles: only a prefix, another prefix, one for another kind of lock.
$make = function (string $payload) {
    $raw = substr(hash('sha256', "dlock1.$payload", true), 0, 16) . $payload;
    return 'dlock1.' . rtrim(strtr(base64_encode($raw), '+/', '-_'), '=');
};
$digits = str_repeat('a', 32);
fails(Dlock\LeaseLostException::class, '*', fn () => $plain->attach($make("single|1000|0|9999999999:$digits|x")), 'a form that is right');
foreach (['9999999999:', "9999999998:$digits", "9999999999:{$digits}a", '9999999999:' . substr($digits, 1), '9999999999:' . str_repeat('g', 32),
    "9999999999:9999999999:" . substr($digits, 11), str_repeat('A', 32), str_repeat("\0", 32), str_repeat('a', 43)] as $token) {
    fails(ValueError::class, '*must be a handle*', fn () => $legacy->attach($make("single|1000|0|$token|x")), shown($token));
}
$red = new RedLock(redis_servers(3));
fails(ValueError::class, '*must be a handle*', fn () => $red->attach($make("quorum|1000|0|9999999999:$digits|x")), 'for RedLock');
fails(ValueError::class, '*must be what RedLock::lock() returned*', fn () => $red->unlock(['resource' => 'x', 'token' => "9999999999:$digits"]), 'unlock()');
echo "done\n";
?>
--EXPECT--
done
