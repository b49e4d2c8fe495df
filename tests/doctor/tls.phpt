--TEST--
dlock-doctor over TLS: which certificates are trusted, and which have ended or end soon
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_tls();
skip_unless_functions('openssl_x509_parse');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/tls.inc';
require __DIR__ . '/../inc/doctor.inc';

$files = new TlsFiles();
/** Signs the server's or the client's certificate again. */
$sign = function (string $name, int $days) use ($files) {
    exec('cd ' . escapeshellarg($files->dir) . " && openssl x509 -req -in $name.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days $days "
        . "-extfile $name.ext -out $name.crt 2>&1", $output, $code);
    same(0, $code, 'openssl: ' . implode("\n", $output));
};
$kept = ['appendonly yes', 'appendfsync always'];
$sign('server', 100);
$sign('client', 100);
$server = new TlsRedis($files, 'optional', $kept);
$client = ['local_cert' => "$files->dir/client.crt", 'local_pk' => "$files->dir/client.key"];
finds([], [$server->dsn()], 'certificates that last');
finds([], [$server->dsn($client)], 'certificates that last, of both');
finds([], [json_encode(['host' => 'tls://localhost', 'port' => $server->port, 'ssl' => ['cafile' => "$files->dir/ca.crt"]])], 'the array form');
finds([], [$server->dsn(['verify_peer_name' => 0], '127.0.0.1')], 'a name that is not looked at');
finds([], [$server->dsn(['peer_name' => 'localhost'], '127.0.0.1')], 'a name that is given');
foreach (['another authority' => ['cafile' => "$files->dir/other.crt"], 'another name' => ['peer_name' => 'elsewhere.invalid']] as $what => $options) {
    $texts = finds(['unreachable' => 'problem'], [$server->dsn($options)], $what);
    holds((bool) preg_match('/certificate|match/', $texts['unreachable'] ?? ''), $what, $texts);
}
finds(['unreachable' => 'problem'], ['rediss://' . substr($server->redis->dsn(), 8)], 'TLS where there is none');

$sign('client', 3);
$texts = finds(['certificate' => 'warning'], [$server->dsn($client)], 'a certificate of the client that ends');
holds(str_contains($texts['certificate'] ?? '', 'the certificate of this client ends on 2'), 'a certificate of the client that ends', $texts);

$sign('server', 3);
$ending = new TlsRedis($files, 'no', $kept);
$texts = finds(['certificate' => 'warning'], [$ending->dsn()], 'a certificate that ends');
holds(str_contains($texts['certificate'] ?? '', "the server's certificate ends on 2"), 'a certificate that ends', $texts);

$sign('server', 0);
$ended = new TlsRedis($files, 'no', $kept);
wait_for(fn () => openssl_x509_parse(file_get_contents("$files->dir/server.crt"))['validTo_time_t'] < time(), 60, 'the certificate to end');
finds(['unreachable' => 'problem'], [$ended->dsn()], 'a certificate that has ended');
$texts = finds(['certificate' => 'warning'], [$ended->dsn(['verify_peer' => 0])], 'a certificate that has ended, and is not looked at');
holds(str_contains($texts['certificate'] ?? '', "the server's certificate ended on 2"), 'a certificate that has ended, and is not looked at', $texts);
echo "done\n";
?>
--EXPECT--
done
