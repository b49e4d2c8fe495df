--TEST--
memcached: clients that know nothing of dlock contend for the same key by add and delete
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
$raw = $server->raw();
$one = new DistributedLock($server->dsn());

// One at a time has the key, whoever it is.
$raw->add('Lock:r', 'theirs', 100);
same([false, null, true, false, false], [$one->lock('r', 0), $one->tryAcquire('r', 0.1), $one->isLocked('r'), $one->isLocking('r'), $one->release('r')], 'held by a client of another kind');
same('theirs', $raw->get('Lock:r'), 'its value');
$raw->delete('Lock:r');
$lease = $one->acquire('r', 0);
same([false, $lease->token], [$raw->add('Lock:r', 'theirs', 100), $raw->get('Lock:r')], 'held by dlock');
same([true, true], [$lease->release(), $raw->add('Lock:r', 'theirs', 1)], 'after release()');
same(true, $one->lock('r', 20), 'at the end of its expiry');

// It deletes what it does not have.
$raw->delete('Lock:r');
$raw->add('Lock:r', 'theirs', 100);
same([false, 'theirs'], [$one->release('r'), $raw->get('Lock:r')], 'release() of what somebody else has by then');

// A value without end, a long one, and an empty one, are somebody's.
foreach (['without end' => ['x', 0], 'long' => [str_repeat('x', 500_000), 100], 'empty' => ['', 100], 'END' => ["END\r\nVA 2 c1", 100]] as $what => [$value, $seconds]) {
    $raw->set('Lock:odd', $value, $seconds);
    same([false, true, false], [$one->lock('odd', 0), $one->isLocked('odd'), $one->isLocking('odd')], "a value that is $what");
    $raw->delete('Lock:odd');
    same(true, $one->lock('odd', 0), "after a value that is $what");
    $raw->set('Lock:odd', $value, $seconds);
    same([false, true], [$one->release('odd'), $raw->get('Lock:odd') === $value], "release() where the value is $what");
}

// php-memcached, as such locks are written in PHP.
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

// Its delete gives the lock away: told by the next refresh(), and by the renewal.
$lease = $one->acquire('p', 0, 100);
same([true, true], [$tell('delete', 'Lock:p'), $tell('add', 'Lock:p', 100)], 'it takes the lock away');
fails(LeaseLostException::class, 'The lock "p" was lost*', $lease->refresh(...));
$lease = (new DistributedLock($server->dsn(), ttl: MEMCACHED_TTL))->acquire('q', 0);
$tell('delete', 'Lock:q');
wait_for(fn () => !$lease->isHeld(), MEMCACHED_TTL, 'the renewal to tell');

// Both for one counter: no update is lost.
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
