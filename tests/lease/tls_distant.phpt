--TEST--
TLS leases are kept over connections that begin slowly, because their handshake takes several round trips
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
// A renewal may take from an eighth to a quarter of the lease time. One round trip takes less; those of TLS 1.2 and the
// login take more.
$ttl = 30.0;
$delay = 1.25;
$leases = [];
foreach (['DistributedLock' => 1, 'RedLock' => 3] as $name => $count) {
    $servers[$name] = array_map(fn () => new TlsRedis($files, config: ['tls-protocols TLSv1.2', 'requirepass secret']), range(1, $count));
    $distant[$name] = array_map(fn (TlsRedis $server) => relay("127.0.0.1:$server->port", $delay), $servers[$name]);
    $dsns = array_map(fn (TlsRedis $server, Relays $by) => $server->dsn([], 'localhost', ':secret@', $by->port()), $servers[$name], $distant[$name]);
    $leases[$name] = ($name === 'DistributedLock' ? new DistributedLock($dsns[0], ttl: $ttl) : new RedLock($dsns, ttl: $ttl))->acquire(unique($name), 60);
}
nap(1.5 * $ttl);
foreach ($leases as $name => $lease) {
    same([true, true], [$lease->isHeld(), $lease->release()], "$name: is it kept?");
}
same(0, Dlock\stats()['reconnections'], 'connections given up for another');
within(count($leases), Dlock\stats()['renewals'], 100, 'renewals');
echo "done\n";
?>
--EXPECT--
done
