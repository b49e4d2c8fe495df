--TEST--
No resource's name makes a key of another lock's queue, or one that dlock keeps for itself
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
require __DIR__ . '/../inc/handover.inc';

$servers = [redis_private(), redis_private(), redis_private()];
$dsns = array_map(fn (PrivateRedis $server) => $server->dsn(), $servers);
$kinds = ['DistributedLock' => fn (string $prefix) => new DistributedLock($dsns[0], $prefix), 'RedLock' => fn (string $prefix) => new RedLock($dsns, prefix: $prefix)];

// ---- two resources have two queues ----
$pairs = [['{x}', 'x'], ['x', '{x}'], ['{x', 'x}'], ['{{x}}', '{x}'], ['{x}', ':x'], ['{x}', ':{x}'], ['{x}', '{{x}'], ["\0", "{\0}"], ['a}b', '{a}b}']];
foreach ($kinds as $kind => $manager) {
    foreach ($pairs as [$first, $second]) {
        $what = "$kind, " . json_encode([$first, $second]);
        $gate = gate();
        $lease = $manager('')->acquire($first, 0, 100);
        enter($gate);
        $child = fork_child(function (callable $say) use ($manager, $first, $gate) {
            return $manager('')->synchronized($first, function () use ($gate) {
                enter($gate);
                leave($gate);
                return 'held alone';
            }, 30);
        });
        at_end($child->kill(...));
        wait_for(fn () => $servers[0]->raw()->cmd('KEYS', 'dlock:queue:*') !== [] || $child->hasEnded(), 60, 'the waiter to queue');
        // While a client waits for the first lock, the second is free, and its release does not concern the waiter.
        $other = $manager('')->tryAcquire($second, 0, 100);
        holds($other !== null, "$what: the other lock is free");
        same(true, $other?->release(), "$what: release() of the other lock");
        same(true, $lease->isHeld(), "$what: the first is held");
        leave($gate);
        same(true, $lease->release(), "$what: release()");
        same('held alone', $child->result(), "$what: the waiter");
        @unlink($gate);
        wait_for(fn () => array_diff($servers[0]->raw()->cmd('KEYS', '*'), ['dlock:seen', 'dlock:fence']) === [], 60, 'the keys to go');
    }
}

// ---- the keys that dlock keeps beside the locks are not locks ----
$reserved = ['dlock:fence', 'dlock:era', 'dlock:fence:{abc}', 'dlock:era:', 'dlock:queue:{x}', 'dlock:queue::{x}', 'dlock:waiters:{x}', 'dlock:queue:', "dlock:waiters:\0"];
$message = 'must not make the key "dlock:fence", "dlock:era" or "dlock:seen", or one that begins with "dlock:queue:", "dlock:waiters:", "dlock:held:", "dlock:fence:", "dlock:era:" or "dlock:seen:", which dlock keeps beside the locks';
foreach ($kinds as $kind => $manager) {
    $methods = ['acquire', 'tryAcquire', 'isLocked', ...($kind === 'DistributedLock' ? ['lock', 'release', 'unlock', 'isLocking'] : ['lock'])];
    foreach ($reserved as $key) {
        for ($length = 0; $length < strlen($key); $length += 3) { // length of the prefix
            $lock = $manager(substr($key, 0, $length));
            $resource = substr($key, $length);
            foreach ($methods as $method) {
                $argument = new ReflectionParameter([$kind, $method], 0);
                fails(ValueError::class, "$kind::$method(): Argument #1 (\${$argument->getName()}) $message", fn () => $lock->$method($resource), "$length of $key");
            }
            fails(ValueError::class, "$kind::synchronized(): Argument #1 (\$resource) $message", fn () => $lock->synchronized($resource, fn () => print "ran\n"));
        }
        fails(ValueError::class, "DistributedLock::expire(): Argument #1 (\$key) $message", fn () => (new DistributedLock($dsns[0], ''))->expire($key, 1));
    }
    // Keys that only look alike are allowed.
    foreach (['dlock:fence2', 'dlock:fenc', 'dlock:queue', 'dlock:waiter', 'dlock:', 'Dlock:fence', 'dlock:inbox:x', ' dlock:fence', "dlock:fence\0"] as $key) {
        same(true, $manager('')->acquire($key, 0)->release(), "$kind, " . json_encode($key));
    }
    foreach ($reserved as $key) {
        same(true, $manager('Lock:')->acquire($key, 0)->release(), "$kind, $key behind a prefix");
    }
}
foreach ($servers as $server) {
    wait_for(fn () => array_diff($server->raw()->cmd('KEYS', '*'), ['dlock:seen', 'dlock:fence']) === [], 60, 'the keys to go');
    holds(preg_match('/^\d+$/', $server->raw()->cmd('GET', 'dlock:fence')) === 1, 'the fence is a number', $server->raw()->cmd('GET', 'dlock:fence'));
}
echo "done\n";
?>
--EXPECT--
done
