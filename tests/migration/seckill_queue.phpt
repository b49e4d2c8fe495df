--TEST--
A flash sale's queue accepts no more users than there is stock, and none twice, under each of the locks
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork', 'posix_kill');
skip_unless_zookeeper();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/locks.inc';

const PROCESSES = 16;
const REQUESTS = 12; // for each process
const USERS = 60;    // so each user comes about three times
const STOCK = 20;

/** One request: may this user buy? The check and the entry are separate, as in the code that this test imitates. */
function enter(RedisRaw $redis, string $kind, string $goods, string $user): bool
{
    return under_lock($kind, "Queue:$goods", function () use ($redis, $goods, $user) {
        $taken = $redis->cmd('ZCARD', "goods:$goods:queue");
        $stock = (int) $redis->cmd('GET', "goods:$goods:stock");
        if ($taken >= $stock || $redis->cmd('ZSCORE', "goods:$goods:queue", $user) !== null) {
            return false;
        }
        pause(0.0005);
        $redis->cmd('ZADD', "goods:$goods:queue", now(), $user);
        return true;
    });
}

/** @return array{entries: int, queue: int, twice: int} */
function sale(string $kind): array
{
    static $number = 0;
    $goods = unique('goods' . ++$number);
    $redis = redis_raw();
    $redis->cmd('SET', "goods:$goods:stock", STOCK);
    $accepted = array_merge(...fork_run(PROCESSES, function (int $i) use ($kind, $goods) {
        $redis = redis_raw();
        $accepted = [];
        for ($n = 0; $n < REQUESTS; $n++) {
            // Neighboring processes come with the same users at about the same time.
            $user = 'user' . (intdiv($i, 2) * 7 + $n * 5) % USERS;
            if (enter($redis, $kind, $goods, $user)) {
                $accepted[] = $user;
            }
        }
        return $accepted;
    }));
    $queue = $redis->cmd('ZCARD', "goods:$goods:queue");
    $redis->cmd('DEL', "goods:$goods:queue", "goods:$goods:stock");
    return ['entries' => count($accepted), 'queue' => $queue, 'twice' => count($accepted) - count(array_unique($accepted))];
}

// The test must be able to notice a wrong sale.
for ($try = 0; $try < 20; $try++) {
    $bad = sale('none');
    if ($wrong = $bad['queue'] > STOCK || $bad['twice'] > 0) {
        break;
    }
}
echo 'none: ', $wrong ? 'oversold' : 'not oversold, so this test shows nothing', "\n";
foreach (lock_kinds() as $kind) {
    ['entries' => $entries, 'queue' => $queue, 'twice' => $twice] = sale($kind);
    echo "$kind: $entries accepted, $queue in the queue, $twice twice\n";
}
?>
--EXPECT--
none: oversold
DistributedLock: 20 accepted, 20 in the queue, 0 twice
RedLock: 20 accepted, 20 in the queue, 0 twice
Semaphore: 20 accepted, 20 in the queue, 0 twice
ReadWriteLock: 20 accepted, 20 in the queue, 0 twice
ZkLock: 20 accepted, 20 in the queue, 0 twice
