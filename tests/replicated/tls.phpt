--TEST--
TLS and passwords for Sentinels and for their servers across a failover, and in a cluster whose replica is promoted
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
skip_unless_tls();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/lease.inc';
require __DIR__ . '/../inc/tls.inc';
require __DIR__ . '/../inc/replicated.inc';

$files = new TlsFiles();
$tls = ['tls-port %bus%', "tls-cert-file $files->dir/address.crt", "tls-key-file $files->dir/address.key", "tls-ca-cert-file $files->dir/ca.crt",
    'tls-auth-clients no', 'tls-replication yes'];
$data = ['save ""', 'repl-diskless-sync-delay 0', 'requirepass of-servers', 'masterauth of-servers'];
$port = fn (ReplicatedRedis $server) => (int) preg_replace('/^.*^tls-port (\d+)$.*$/ms', '$1', file_get_contents("$server->dir/redis.conf"));
$options = fn (array $more = []) => '?' . http_build_query($more + ['tls' => 1, 'cafile' => "$files->dir/ca.crt", 'guard' => 6.3]);

/** A lock with a waiter, at that master, and a lock that is renewed. Returns the last fencing token. */
$works = function (string $what, string $dsn, ReplicatedRedis $master, bool $renewed = false): int {
    $lock = new DistributedLock($dsn, ttl: 6.0);
    $lease = $lock->acquire($resource = unique($what), 60);
    $redis = $master->raw();
    same($lease->token, $redis->cmd('GET', "Lock:$resource"), "$what: the lock on the master");
    $child = fork_child(fn () => (new DistributedLock($dsn, ttl: 6.0))->synchronized($resource, fn ($lease) => $lease->fencingToken, 60));
    $left = fn () => $redis->cmd('PTTL', "Lock:$resource");
    if ($renewed) {
        $least = PHP_INT_MAX;
        wait_for(function () use ($left, &$least) {
            $now = $left();
            $least = min($least, $now);
            return $now > $least + 500;
        }, 60, "$what: a renewal");
    }
    same(true, $lease->release(), "$what: release()");
    holds(($token = $child->result()) > $lease->fencingToken, "$what: the waiter's token", [$token, $lease->fencingToken]);
    return $token;
};
$refused = function (string $what, string $message, string $dsn) {
    $e = thrown_by(fn () => (new DistributedLock($dsn, ttl: 6.0))->acquire(unique(), 0));
    holds($e instanceof Dlock\ConnectionException && preg_match("/$message/", $e->getMessage()) === 1, "$what: refused", $e);
    hides(['of-servers', 'of-sentinels'], (string) $e, $what);
};
/** Master and replica change places; connections to them may be closed meanwhile. */
$changes_places = function (ReplicatedRedis $master, ReplicatedRedis $replica, callable $ask) {
    $is = function (callable $so) {
        try {
            return $so();
        } catch (RuntimeException) {
            return false;
        }
    };
    fail_over($ask, fn () => $is($replica->isMaster(...)), 'the replica to be the master');
    wait_for(fn () => $is(fn () => is_replica_in_sync($master->raw())), 60, 'the master to be its replica');
};

// ---- Sentinels ----
$master = new ReplicatedRedis([...$data, ...$tls], 'of-servers');
$replica = new ReplicatedRedis([...$data, ...$tls], 'of-servers');
$replica->raw()->cmd('REPLICAOF', '127.0.0.1', $port($master));
wait_for(fn () => is_replica_in_sync($replica->raw()), 60, 'the replica');
$sentinel = new ReplicatedRedis(['sentinel monitor shop 127.0.0.1 ' . $port($master) . ' 1', 'sentinel down-after-milliseconds shop 60000',
    'sentinel auth-pass shop of-servers', 'requirepass of-sentinels', ...$tls], 'of-sentinels', true);
hasten_sentinel($sentinel->raw(), 200);
wait_for(fn () => is_sentinel_content($sentinel->raw(), 'shop', 1, 1), 60, 'the Sentinel');
$dsn = fn (array $more = [], ?int $at = null) => "sentinel://:of-servers@127.0.0.1:" . ($at ?? $port($sentinel)) . '/shop' . $options($more + ['sentinel_password' => 'of-sentinels']);
$before = $works('Sentinel', $dsn(), $master, true);
$works('Sentinel without TLS, servers with it', $dsn(['sentinel_tls' => 0], $sentinel->port), $master);
$refused('another authority', 'certificate', $dsn(['cafile' => "$files->dir/other.crt"]));
$refused('a wrong password of the Sentinel', 'WRONGPASS|password', $dsn(['sentinel_password' => 'wrong']));
$changes_places($master, $replica, fn () => $sentinel->raw()->cmd('SENTINEL', 'FAILOVER', 'shop'));
holds($works('Sentinel, after a fail-over', $dsn(), $replica) > $before, 'the fencing token after a fail-over', $before);

// ---- a cluster ----
$nodes = array_map(fn () => new ReplicatedRedis([...$data, ...$tls, 'cluster-enabled yes', 'cluster-port %bus%', 'tls-cluster yes', 'cluster-node-timeout 60000',
    'cluster-replica-validity-factor 0'], 'of-servers'), [0, 1]);
[$master, $replica] = $nodes;
$master->raw()->cmd('CLUSTER', 'ADDSLOTSRANGE', 0, REDIS_SLOTS - 1);
$master->raw()->cmd('CLUSTER', 'MEET', '127.0.0.1', $port($replica), $replica->busPort());
$id = $master->raw()->cmd('CLUSTER', 'MYID');
wait_for(fn () => str_contains($replica->raw()->cmd('CLUSTER', 'NODES'), $id) && !str_contains($replica->raw()->cmd('CLUSTER', 'NODES'), 'handshake'), 60, 'the nodes');
$replica->raw()->cmd('CLUSTER', 'REPLICATE', $id);
wait_for(fn () => is_node_content($master->raw(), 2) && is_node_content($replica->raw(), 2), 60, 'the cluster');
$dsn = fn (array $more = []) => "cluster://:of-servers@127.0.0.1:{$port($nodes[1])},127.0.0.1:{$port($nodes[0])}" . $options($more);
$works('cluster', $dsn(), $master, true);
$refused('another authority of a cluster', 'certificate', $dsn(['cafile' => "$files->dir/other.crt"]));
$changes_places($master, $replica, fn () => $replica->raw()->cmd('CLUSTER', 'FAILOVER'));
$works('cluster, after a fail-over', $dsn(), $replica);
echo "done\n";
?>
--EXPECT--
done
