--TEST--
memcached: php-memcached competes for the same key by add() and delete()
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_memcached();
exec(escapeshellarg(PHP_BINARY) . ' -n -d extension=igbinary -d extension=msgpack -d extension=memcached -r "new Memcached;" 2>/dev/null', $output, $code);
$code === 0 || die('skip needs the Debian package php-memcached');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/memcached.inc';

use Dlock\LeaseLostException;

$server = new PrivateMemcached();
$one = new DistributedLock($server->dsn());
$theirs = php_child('
    $memcached = new Memcached();
    $memcached->setOption(Memcached::OPT_BINARY_PROTOCOL, false);
    $memcached->addServer("127.0.0.1", (int) $argv[1]);
    while (($line = fgets(STDIN)) !== false) {
        [$call, $key, $seconds] = explode(" ", trim($line));
        echo json_encode($call === "add" ? $memcached->add($key, "theirs", (int) $seconds) : $memcached->delete($key)), "\n";
    }
', [(string) $server->port], '-d error_reporting=8191 -d extension=igbinary -d extension=msgpack -d extension=memcached');
$tell = function (string $call, string $key, int $seconds = 0) use ($theirs): bool {
    $theirs->writeLine("$call $key $seconds");
    return json_decode($theirs->readLine());
};
same([true, false], [$tell('add', 'Lock:p', 100), $one->lock('p', 0)], 'held by php-memcached');
same([true, true], [$tell('delete', 'Lock:p'), $one->lock('p', 0)], 'released by php-memcached');
same([false, true, true], [$tell('add', 'Lock:p', 100), $one->release('p'), $tell('add', 'Lock:p', 100)], 'held by dlock');
$tell('delete', 'Lock:p');

// The other client's delete takes the lock away: the next refresh() reports it, and so does the renewal.
$lease = $one->acquire('p', 0, 100);
same([true, true], [$tell('delete', 'Lock:p'), $tell('add', 'Lock:p', 100)], 'it takes the lock away');
fails(LeaseLostException::class, 'The lock "p" was lost*', $lease->refresh(...));
$lease = (new DistributedLock($server->dsn(), ttl: MEMCACHED_TTL))->acquire('q', 0);
$tell('delete', 'Lock:q');
wait_for(fn () => !$lease->isHeld(), 60, 'the renewal to tell');

// Both update one counter: no update is lost.
$file = temporary_directory() . '/counter';
file_put_contents($file, '0');
$add = function () use ($file) {
    $value = (int) file_get_contents($file);
    pause(0.0005);
    file_put_contents($file, (string) ($value + 1));
};
$foreign = php_child('
    $memcached = new Memcached();
    $memcached->addServer("127.0.0.1", (int) $argv[1]);
    for ($i = 0; $i < 100; $i++) {
        while (!$memcached->add("Lock:counter", "theirs", 60)) {
            pause(0.0005);
        }
        $value = (int) file_get_contents($argv[2]);
        pause(0.0005);
        file_put_contents($argv[2], (string) ($value + 1));
        $memcached->delete("Lock:counter");
    }
    echo "done\n";
', [(string) $server->port, $file], '-d error_reporting=8191 -d extension=igbinary -d extension=msgpack -d extension=memcached');
for ($i = 0; $i < 100; $i++) {
    $one->synchronized('counter', $add, 60);
}
same(['done', '200'], [$foreign->readLine(60), file_get_contents($file)], 'a counter');
echo "done\n";
?>
--EXPECT--
done
