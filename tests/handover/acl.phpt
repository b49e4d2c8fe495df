--TEST--
A user with the commands, keys and channels of docs/operations.md can do everything; without any of them it fails clearly
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

preg_match('/^ACL SETUSER locks on >s3cret resetkeys resetchannels (.*)$/m', file_get_contents(__DIR__ . '/../../docs/operations.md'), $listed)
    || exit("docs/operations.md has no list\n");
define('RULES', explode(' ', $listed[1]));
const CHANNELS = ['&dlock:inbox:*'];
same([], array_diff(['~Lock:*', '~dlock:*', '-@all', ...CHANNELS], RULES), 'what the list begins with');

$kinds = [];
foreach (['DistributedLock' => 1, 'RedLock' => 3] as $kind => $servers) {
    $kinds[$kind] = private_locks($kind, $servers);
}
$allow = function (array $without = [], array $besides = []) use ($kinds) {
    $rules = array_diff(RULES, $without);
    foreach ($kinds as $kind => $locks) {
        foreach ($locks->raw() as $redis) {
            // RedLock asks each server how long it has been up.
            $redis->cmd('ACL', 'SETUSER', 'locks', 'reset', 'on', '>secret', ...$rules, ...$besides,
                ...($kind === 'RedLock' ? ['+info'] : []));
            $redis->cmd('SCRIPT', 'FLUSH');
        }
    }
};
$manager = function (string $kind) use ($kinds) {
    $dsns = array_map(fn (string $address) => "redis://locks:secret@$address", $kinds[$kind]->addresses);
    return $kind === 'DistributedLock' ? new DistributedLock($dsns[0]) : new RedLock($dsns, prefix: 'Lock:', retryDelay: 20);
};

/* All uses of a lock, by a holder and two waiters, one of which times out. @return string what went wrong, '' for
   nothing */
$scenario = function (string $kind) use ($kinds, $manager): string {
    $resource = unique($kind . bin2hex(random_bytes(4)));
    $waiter = null;
    $ended = temporary_directory() . '/ended';
    try {
        $lease = $manager($kind)->acquire($resource, 0, 30);
        $lease->refresh(30);
        $manager($kind)->isLocked($resource) || throw new RuntimeException('not locked');
        $waiter = fork_child(function () use ($manager, $kind, $resource, $ended) {
            try {
                $lease = $manager($kind)->acquire($resource, 30, 30);
                return $lease->release() ? '' : 'lost by the waiter';
            } catch (Throwable $e) {
                return $e::class . ': ' . $e->getMessage();
            } finally {
                touch($ended);
            }
        });
        wait_for(fn () => $kinds[$kind]->waiting($resource) >= 1 || is_file($ended), 60, 'the waiter to queue');
        $manager($kind)->tryAcquire($resource, 0.02) === null || throw new RuntimeException('two of them hold');
        $manager($kind)->attach($lease->detach())->release() || throw new RuntimeException('not released');
        return $waiter->result(60);
    } catch (Throwable $e) {
        return $e::class . ': ' . $e->getMessage();
    } finally {
        $waiter?->kill();
    }
};

$allow();
foreach ($kinds as $kind => $locks) {
    same('', $scenario($kind), "$kind with just these");
    foreach ($locks->raw() as $redis) {
        same([], $redis->cmd('ACL', 'LOG'), "$kind: refused commands");
    }
}
// Every rule of the list is needed, and the error says so. Exceptions are INCR, without which each lock also reads the
// clock, ZRANK, for leases that end soon (rights.phpt), and messages, without which waiters look at intervals
// (restricted.phpt).
foreach (array_diff(RULES, ['-@all', '+incr', '+zrank', '+publish', '+subscribe', ...CHANNELS]) as $rule) {
    $allow([$rule]);
    $problem = $scenario('DistributedLock') ?: $scenario('RedLock'); // some rights only RedLock needs
    // Redis words it in three ways.
    holds(preg_match('/^Dlock\\\\(Connection|Quorum)Exception: .*Redis at \S+: .*(NOPERM|ACL failure|permission|can\'t run this command).*(needs the|docs\/operations\.md)/', $problem) === 1,
        "without $rule", $problem);
}
// Another database also needs SELECT, and RedLock INFO.
$allow();
$in_database = fn (string $kind) => $kind === 'DistributedLock' ? new DistributedLock("redis://locks:secret@{$kinds[$kind]->addresses[0]}/1")
    : new RedLock(array_map(fn (string $address) => "redis://locks:secret@$address/1", $kinds[$kind]->addresses), prefix: 'Lock:');
fails(Dlock\ConnectionException::class, 'Redis at *: NOPERM *select*; a database other than 0 needs +select', fn () => $in_database('DistributedLock')->acquire('x', 0), 'without +select');
fails(Dlock\ConnectionException::class, "Redis at *: NOAUTH *; it needs a password: redis://:password@host, or auth in an array",
    fn () => (new DistributedLock('redis://' . test_env('DLOCK_TEST_REDIS_AUTH') . '/1'))->acquire('x', 0), 'without a password');
$allow([], ['+select']);
foreach (array_keys($kinds) as $kind) {
    same(true, $in_database($kind)->acquire('x', 0)->release(), "$kind in another database");
}
echo "done\n";
?>
--EXPECT--
done
