--TEST--
Databases over TLS: authority, name and time of the certificate, certificates of clients, and servers without TLS
--EXTENSIONS--
pdo
mysqlnd
pdo_mysql
pdo_pgsql
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_databases();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/database.inc';
require __DIR__ . '/../inc/tls.inc';

$files = new TlsFiles();
$plain = getenv('DLOCK_TEST_DATABASE') === 'mysql' ? [] : ['pgsql' => new PrivatePostgres()];
$plain += getenv('DLOCK_TEST_DATABASE') === 'pgsql' ? [] : ['mysql' => new PrivateMariaDb()];
give_to_server_user($files->dir);
$start = fn (string $kind, string $certificate) => $kind === 'pgsql'
    ? new PrivatePostgres(['ssl' => 'on', 'ssl_cert_file' => "$files->dir/$certificate.crt", 'ssl_key_file' => "$files->dir/$certificate.key", 'ssl_ca_file' => "$files->dir/ca.crt"])
    : new PrivateMariaDb(['ssl_cert' => "$files->dir/$certificate.crt", 'ssl_key' => "$files->dir/$certificate.key", 'ssl_ca' => "$files->dir/ca.crt"]);

foreach ($plain as $kind => $without) {
    $server = $start($kind, 'server');
    $dsn = fn (array $options, PrivateDatabase $to, string $host = 'localhost') => str_replace('127.0.0.1', $host,
        $to->dsn(http_build_query($options + ['tls' => 1, 'cafile' => "$files->dir/ca.crt", 'create' => 1, 'connect_timeout' => 60, 'read_timeout' => 60, 'guard' => 300])));
    $lease = fn (array $options = [], ?PrivateDatabase $to = null, string $host = 'localhost') => (new DistributedLock($dsn($options, $to ?? $server, $host), ttl: 100))->acquire('r', 0);
    $refused = fn (string $message, callable $do, string $what) => fails(Dlock\ConnectionException::class, $message, $do, "$kind: $what");

    // ---- the server's certificate ----
    $locks = new DistributedLock($dsn([], $server), ttl: 100);
    $one = $locks->acquire('r', 0);
    $encrypted = $kind === 'pgsql'
        ? $server->query("SELECT count(*) AS n FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid) WHERE a.application_name = 'dlock' AND s.ssl")[0]['n'] > 0
        : (int) $server->query("SHOW GLOBAL STATUS LIKE 'Ssl_finished_accepts'")[0]['Value'] > 0;
    holds($encrypted, "$kind: the session is encrypted");
    // A waiter, and a lease that is renewed, over sessions of their own.
    $waiter = database_holder($dsn([], $server), 'r', 100, 300);
    wait_for(fn () => $server->waiters('Lock:r') !== [], 60, "$kind: the waiter");
    same(true, $one->release(), "$kind: release()");
    $waiter->hear();
    $waiter->say(null);
    same(true, $waiter->result(), "$kind: handed over");
    $refused('*certificate*', fn () => $lease(['cafile' => "$files->dir/other.crt"]), 'another authority');
    $refused('*', fn () => $lease([], null, '127.1'), 'another name'); // libmariadb 3.4 accepts any certificate of 127.0.0.1
    same(true, $lease(['verify_peer_name' => 0], null, '127.0.0.1')->release(), "$kind: names are not compared");
    same(true, $lease(['verify_peer' => 0, 'cafile' => "$files->dir/other.crt"], null, '127.0.0.1')->release(), "$kind: nothing is compared");
    $refused('*certificate*', fn () => $lease(['verify_peer_name' => 0, 'cafile' => "$files->dir/other.crt"]), 'another authority, where names are not compared');
    $refused('*', fn () => $lease(['cafile' => "$files->dir/none.crt"]), 'no such file');
    $refused('*', fn () => $lease([], $without), 'a server without TLS');
    same(true, $lease(['tls' => 0], $without)->release(), "$kind: which is used without it");
    $refused('*certificate*', fn () => $lease([], $start($kind, 'expired')), 'a certificate that has expired');

    // ---- the client's certificate ----
    if ($kind === 'pgsql') {
        file_put_contents("$server->dir/data/pg_hba.conf", "local all admin trust\nhostssl all all 127.0.0.1/32 scram-sha-256 clientcert=verify-ca\n");
        $server->query('SELECT pg_reload_conf()');
    } else {
        $server->query("ALTER USER admin@'%' REQUIRE X509");
    }
    wait_for(function () use ($server, $lease) {
        array_map($server->endSession(...), $server->sessions());
        return thrown_by($lease) instanceof Dlock\ConnectionException;
    }, 60, "$kind: that clients need a certificate");
    $pair = ['local_cert' => "$files->dir/client.crt", 'local_pk' => "$files->dir/client.key"];
    same(true, $lease($pair)->release(), "$kind: with a client's certificate");
    $pair['local_pk'] = "$files->dir/client.encrypted.key";
    same(true, $lease($pair + ['passphrase' => TlsFiles::PASSPHRASE])->release(), "$kind: whose key is encrypted");
    $e = thrown_by(fn () => $lease($pair + ['passphrase' => 'Wrong.passphrase']));
    holds($e instanceof Dlock\ConnectionException, "$kind: a wrong passphrase", $e);
    hides(['Wrong.passphrase', PrivateDatabase::PASSWORD], (string) $e, "$kind: the message");
    $e = thrown_by(fn () => $lease(['tls' => 0]));
    holds($e instanceof Dlock\ConnectionException, "$kind: without TLS", $e);
}
echo "done\n";
?>
--EXPECT--
done
