--TEST--
rediss:// and its like ask for TLS; a build without TLS refuses them with a ValueError that says why
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

ob_start();
phpinfo(INFO_MODULES);
preg_match('/^TLS \(rediss:\/\/\) => (.*)$/m', ob_get_clean(), $found);
$has_tls = $found[1] !== 'not in this build';

$text = 'must not ask for TLS (rediss://): this build of dlock has no TLS, because OpenSSL was not found when it was built; docs/installation.md says what to install';
foreach (['rediss://h', 'REDISS://h:6380/1', 'rediss://:password-of-tls@h?verify_peer=0', ['tls://h', 6380], ['ssl://h'],
    ['host' => 'h', 'ssl' => true], ['host' => 'h', 'ssl' => ['verify_peer' => false, 'cafile' => '/ca.pem']],
    ['host' => 'h', 'ssl' => ['stream' => ['verify_peer_name' => false]]]] as $spec) {
    if ($has_tls) {
        // Whether the server speaks TLS shows only when a call connects.
        same(null, thrown_by(fn () => new DistributedLock($spec)), shown($spec));
        same(null, thrown_by(fn () => new RedLock(['redis://other', $spec])), shown($spec));
        continue;
    }
    fails(ValueError::class, "DistributedLock::__construct(): Argument #1 (\$server) $text", fn () => new DistributedLock($spec), shown($spec));
    fails(ValueError::class, "RedLock::__construct(): Argument #1 (\$servers) element 1 $text", fn () => new RedLock(['redis://h', $spec]), shown($spec));
}
if ($has_tls) {
    // The server does not speak TLS.
    fails(Dlock\ConnectionException::class, 'Redis at *', fn () => (new DistributedLock('rediss://' . redis_addresses()[0]))->lock('x', 0));
    exit("done\n");
}
same(false, @ini_set('dlock.server', 'rediss://h'), 'ini_set()');
hides(['password-of-tls'], error_get_last()['message'] . thrown_by(fn () => new DistributedLock('rediss://:password-of-tls@h')), 'the error');
echo "done\n";
?>
--EXPECT--
done
