--TEST--
TLS: leases of a second are kept over connections that take long to begin, since their handshake is several round trips
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_tls();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/lease.inc';
require __DIR__ . '/../inc/tls.inc';

$files = new TlsFiles();
// A renewal may take a part of the lease time, which a round trip stays within, but not that of TLS 1.2, and the login.
$ttl = 2.0;
$delay = 0.07;
foreach (['DistributedLock' => 1, 'RedLock' => 3] as $name => $count) {
    $servers = array_map(fn () => new TlsRedis($files, ['tls-protocols TLSv1.2', 'requirepass secret']), range(1, $count));
    $distant = array_map(fn (TlsRedis $server) => new DistantServer($server->port, $delay), $servers);
    $dsns = array_map(fn (TlsRedis $server, DistantServer $by) => $server->dsn(['cafile' => "$files->dir/ca.crt"], 'localhost', ':secret@', $by->port), $servers, $distant);
    $lease = ($name === 'DistributedLock' ? new DistributedLock($dsns[0], ttl: $ttl) : new RedLock($dsns, ttl: $ttl))->acquire(unique($name), 20);
    $before = Dlock\stats();
    nap(3 * $ttl);
    same([true, true], [$lease->isHeld(), $lease->release()], "$name: is it kept?");
    $after = Dlock\stats();
    same($before['reconnections'], $after['reconnections'], "$name: connections given up for another");
    within(4, $after['renewals'] - $before['renewals'], 100, "$name: renewals");
}
echo "done\n";
?>
--EXPECT--
done
