--TEST--
TLS: an error of OpenSSL that belongs to one connection ends no other
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_tls();
?>
--INI--
dlock.restart_guard=0
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/lease.inc';
require __DIR__ . '/../inc/tls.inc';

$files = new TlsFiles();
$servers = array_map(fn () => new TlsRedis($files), range(1, 5));
$red = new RedLock(array_map(fn (TlsRedis $server) => $server->dsn(), $servers));
$raws = array_map(fn (TlsRedis $server) => $server->redis->raw(), $servers);
/** Connections that the servers from $first on have accepted since they were started. */
$accepted = fn (int $first) => array_map(connections_received(...), array_slice($raws, $first));

$lease = $red->acquire(unique('renewed'), 0, 9.0);
wait_for(fn () => array_sum(array_map(fn (RedisRaw $raw) => $raw->cmd('EXISTS', $lease->resource), $raws)) === 5, 60, 'the lock on all servers');
$before = $accepted(2);
// They end without a TLS alert, which counts as an error.
$servers[0]->redis->kill();
same([true, true], [$lease->refresh() ?? true, $lease->isHeld()], 'one server is gone: refresh()');
$servers[1]->redis->kill();
$red->acquire(unique('acquired'), 0, 9.0)->release();
same(true, $lease->release(), 'two servers are gone: release()');
same($before, $accepted(2), 'connections to the others');

// The client refuses a certificate in the handshake.
$refused = new DistributedLock($servers[2]->dsn(['cafile' => "$files->dir/other.crt"]));
for ($i = 0; $i < 3; $i++) {
    fails(Dlock\ConnectionException::class, '*the certificate is refused*', fn () => $refused->acquire(unique(), 0));
    $red->acquire(unique("refused-$i"), 0, 9.0)->release();
}
same(array_slice($before, 1), $accepted(3), 'connections to the others, after a certificate that is refused');
echo "done\n";
?>
--EXPECT--
done
