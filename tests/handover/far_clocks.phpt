--TEST--
Clocks that are centuries ahead, or at 0, and forged fencing tokens spoil no client's locks
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
skip_unless_preloading();
?>
--INI--
; Servers that have just been started would all have to vote.
dlock.restart_guard=0
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/handover.inc';
require __DIR__ . '/../inc/clocks.inc';

const CAP = 1 << 52, END = (1 << 53) - (1 << 50);

$locks = private_locks('RedLock', 3);
$dsns = implode(',', array_map(fn (string $address) => "redis://$address", $locks->addresses));
$fences = fn () => array_map(fn (RedisRaw $redis) => (int) $redis->cmd('GET', 'dlock:fence'), $locks->raw());
$last = 0;
/* Another lock can be acquired, and its token is greater than the one before, but not by centuries. */
$goes_on = function (string $what, int $most = CAP + 1000) use ($locks, &$last, $fences) {
    $lease = $locks->manager()->acquire('other', 60, 30);
    within($last + 1, $lease->fencingToken, $most, "$what: the fencing token");
    $last = $lease->fencingToken;
    same(true, $lease->release(), "$what: release()");
    holds(max($fences()) <= $most, "$what: what the servers count on from", $fences());
};
$now = fn () => (time() + 60) * 1_000_000;
$goes_on('at first', $now());

// A client's clock is wrong.
$use = <<<'PHP'
    $red = new RedLock(explode(',', $argv[1]), prefix: 'Lock:');
    foreach (['acquire' => fn () => $red->acquire('x', 60, 30), 'tryAcquire' => fn () => $red->tryAcquire('x'), 'lock' => fn () => $red->lock('x', 60_000)] as $name => $do) {
        try {
            $lease = $do();
            echo "$name: ", $lease instanceof Dlock\Lease ? "$lease->fencingToken " . json_encode($lease->release()) : json_encode($red->unlock($lease)), "\n";
        } catch (Throwable $e) {
            echo "$name: ", $e::class, ': ', $e->getMessage(), "\n";
        }
    }
    $lease = (new DistributedLock(explode(',', $argv[1])[0]))->acquire('y', 60, 30);
    echo "DistributedLock: $lease->fencingToken ", json_encode($lease->release()), "\n";
    PHP;
$by_clock = fn (float $time) => explode("\n", trim(php_child($use, [$dsns], '', wrong_clock($time - time()))->readAll()));
foreach ([2112 => (1 << 52) / 1e6 + 3600 * 24 * 200, 2255 => (1 << 53) / 1e6 - 1000, 2256 => (1 << 53) / 1e6 + 3600 * 24 * 300] as $year => $time) {
    $year = gmdate('Y', (int) $time);
    $said = $by_clock($time);
    for ($i = 0; $i < 3; $i++) {
        $name = ['acquire', 'tryAcquire', 'lock'][$i];
        same("$name: Dlock\\DlockException: The clock of this host is wrong, its year is $year: set it, since fencing tokens are made of it", $said[$i], "$year");
    }
    holds((bool) preg_match('/^DistributedLock: \d{16} true$/', $said[3]), "$year: what needs no clock of the client's", $said[3]);
    $goes_on("a client in $year", $now());
    same([], array_merge(...$locks->queues('x')), "$year: queues");
}
foreach ([0, 5, -1, -3600 * 24 * 365 * 100] as $time) {
    $said = $by_clock($time);
    holds((bool) preg_match('/^acquire: (\d{16}) true$/', $said[0], $found) && $found[1] > $last, "a client at $time", $said, $last);
    same('lock: true', $said[2], "a client at $time");
    $goes_on("a client at $time", $now());
}

// Requests that a client could send by hand.
$redis = $locks->raw()[0];
$keys = ['Lock:z', 'dlock:fence', Locks::queue('z'), Locks::waiters('z')];
$error = fn (string $script, string ...$arguments) => thrown_by(fn () => $redis->cmd('EVAL', script($script), ...$arguments))?->getMessage();
foreach ([END, END + 1, (1 << 53) - 1, PHP_INT_MAX, '1e300', 'inf', 'nan'] as $forged) {
    $before = $redis->cmd('GET', 'dlock:fence');
    $redis->cmd('SET', 'Lock:z', 'mine', 'PX', 30000);
    same('Redis: ERR no fencing token can be as large as this one', $error('raise', '2', 'Lock:z', 'dlock:fence', 'mine', (string) $forged), "raise to $forged");
    $redis->cmd('DEL', 'Lock:z');
    same('Redis: ERR no fencing token can be as large as this one', $error('repair', '2', 'Lock:z', 'dlock:fence', 'mine', '30000', (string) $forged), "repair with $forged");
    same(null, $redis->cmd('GET', 'Lock:z'), 'the lock after that');
    same($before, $redis->cmd('GET', 'dlock:fence'), 'the fence after that');
}
same(1, $redis->cmd('EVAL', script('repair'), 2, 'Lock:z', 'dlock:fence', 'mine', 30000, CAP), 'repair with what a clock may propose');
$redis->cmd('DEL', 'Lock:z');
foreach ([(1 << 53) - 1, 1 << 53, PHP_INT_MAX, '1e300', 'inf'] as $forged) {
    $token = $redis->cmd('EVAL', script('acquire'), 4, ...$keys, ...['mine', 30000, $forged, 0]);
    within(CAP, $token, CAP + 100, "the token of acquire with $forged");
    $redis->cmd('DEL', 'Lock:z');
}
$goes_on('after all that');
$goes_on('after all that, again');
// The largest token that is not refused. A server that was raised to it has no vote until an operator corrects it, but
// still gives out tokens.
same(1, $redis->cmd('EVAL', script('repair'), 2, 'Lock:z', 'dlock:fence', 'mine', 30000, END - 1), 'repair with the largest');
$redis->cmd('DEL', 'Lock:z');
for ($i = 0; $i < 3; $i++) {
    $lease = $locks->manager()->acquire('other', 60, 30);
    within($last + 1, $lease->fencingToken, CAP + 1000, 'the others go on');
    $last = $lease->fencingToken;
    same(true, $lease->release(), 'the others go on: release()');
    $lease = (new DistributedLock("redis://{$locks->addresses[0]}"))->acquire('z', 60, 30);
    within(END + $i, $lease->fencingToken, END + 10, 'it goes on by itself');
    same(true, $lease->release(), 'it goes on by itself: release()');
}

// A server's clock is wrong.
foreach ([(1 << 53) / 1e6 + 1000, (1 << 53) / 1e6 - 1000, 1] as $time) {
    $server = redis_with_clock($time - time());
    $single = new Locks('DistributedLock', [$server->address()], [$server]);
    within($time - 60, (float) $server->raw()->cmd('TIME')[0], $time + 60, 'the clock of a server');
    $tokens = [];
    $gate = gate();
    for ($i = 0; $i < 3; $i++) {
        $resource = unique("$time-$i");
        $lease = $single->manager()->acquire($resource, 0, 30);
        $tokens[] = $lease->fencingToken;
        $waiter = $single->waiter($resource, $gate);
        $single->waitUntilQueued($resource, 1);
        same(true, $lease->release(), "release() at $time");
        [, $tokens[], $held] = $waiter->hear();
        same(true, $held, "the waiter at $time");
        $waiter->say('release');
        same(true, $waiter->result(), "the waiter's release() at $time");
    }
    $sorted = $tokens;
    sort($sorted);
    same(array_values(array_unique($sorted)), $tokens, "tokens at $time");
    within(1, $tokens[0], CAP, "the first at $time");
    within($tokens[0] + 5, $tokens[5], $tokens[0] + 60_000_000, "the last at $time");
}
echo "done\n";
?>
--EXPECT--
done
