--TEST--
open_basedir applies to TLS files, as for PHP's own streams, but not to Unix sockets, which PHP does not check either
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

mkdir($allowed = temporary_directory() . '/allowed');
mkdir($forbidden = temporary_directory() . '/forbidden');
foreach ([$allowed, $forbidden] as $directory) {
    touch("$directory/ca.pem");
}
$socket = new DistributedLock('unix://' . redis_socket());
ini_set('open_basedir', $allowed);

foreach (['cafile', 'capath', 'local_cert', 'local_pk'] as $option) {
    $text = "must have a $option that open_basedir allows";
    fails(ValueError::class, "DistributedLock::__construct(): Argument #1 (\$server) $text", fn () => new DistributedLock("rediss://h?$option=$forbidden/ca.pem"), $option);
    fails(ValueError::class, "RedLock::__construct(): Argument #1 (\$servers) element 1 $text",
        fn () => new RedLock(['redis://h', ['host' => 'h', 'ssl' => [$option => "$forbidden/ca.pem"]]]), "$option of an array");
    fails(ValueError::class, "DistributedLock::__construct(): Argument #1 (\$server) $text",
        fn () => new DistributedLock("rediss://h?$option=$allowed/../forbidden/ca.pem"), "$option by a detour");
    $e = thrown_by(fn () => new DistributedLock("rediss://h?$option=$allowed/ca.pem"));
    holds($e === null || str_contains($e->getMessage(), 'has no TLS'), "$option that is allowed", $e?->getMessage());
}
same(false, @ini_set('dlock.server', "rediss://h?cafile=$forbidden/ca.pem"), 'ini_set()');
holds(str_contains(error_get_last()['message'], 'must have a cafile that open_basedir allows'), 'what ini_set() says', error_get_last());
same(true, $socket->lock(unique(), 0), 'a socket');
same(true, (new DistributedLock('unix://' . redis_socket()))->lock(unique('another'), 0), 'a socket elsewhere');
echo "done\n";
?>
--EXPECT--
done
