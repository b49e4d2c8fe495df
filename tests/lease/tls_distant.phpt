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
// A renewal may take from an eighth to a quarter of the lease time, 5.12 s here. One round trip takes less, also if the
// machine stands still for some seconds; those of TLS 1.2 and the login take more.
$ttl = 40.0;
$delay = 1.0;
$kinds = ['DistributedLock' => 1, 'RedLock' => 3];
foreach ($kinds as $name => $count) {
    $servers[$name] = array_map(fn () => new TlsRedis($files, config: ['tls-protocols TLSv1.2', 'requirepass secret']), range(1, $count));
    $distant[$name] = array_map(fn (TlsRedis $server) => relay("127.0.0.1:$server->port", $delay), $servers[$name]);
}
$options = ['connect_timeout' => 60, 'read_timeout' => 60];
$keep = fn () => fork_run(2, function (int $i) use ($kinds, $servers, $distant, $options, $ttl) {
    $name = array_keys($kinds)[$i];
    $dsns = array_map(fn (TlsRedis $server, Relays $by) => $server->dsn($options, 'localhost', ':secret@', $by->port()), $servers[$name], $distant[$name]);
    $lease = ($name === 'DistributedLock' ? new DistributedLock($dsns[0], ttl: $ttl) : new RedLock($dsns, ttl: $ttl))->acquire(unique($name), 60);
    wait_for(fn () => Dlock\stats()['renewals'] > 0 || !$lease->isHeld(), 150, 'a renewal');
    return [$lease->isHeld(), $lease->release(), Dlock\stats()['reconnections']];
}, timeout: 300);
for ($attempt = 1; array_column($results = $keep(), 0) !== [true, true] && $attempt < 3; $attempt++); // it stood still for longer
foreach (array_keys($kinds) as $i => $name) {
    same([true, true, 0], $results[$i], "$name: is it kept, without connections that are given up for another?");
}
echo "done\n";
?>
--EXPECT--
done
