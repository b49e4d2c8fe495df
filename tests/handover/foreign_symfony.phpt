--TEST--
Symfony's RedisStore and DistributedLock exclude each other
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');

is_readable('/usr/share/php/Symfony/Component/Lock/autoload.php') || die('skip needs the Debian package php-symfony-lock');
exec(escapeshellarg(PHP_BINARY) . ' -n -d extension=igbinary -d extension=redis -r "new Redis;" 2>/dev/null', $output, $code);
$code === 0 || die('skip needs the Debian package php-redis');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/handover.inc';

[$locks] = shared_locks();
[$redis] = $locks->raw();
$resource = unique();
$symfony = fn (string $code) => php_child('
    require "/usr/share/php/Symfony/Component/Lock/autoload.php";
    [$host, $port] = explode(":", $argv[1]);
    $redis = new Redis;
    $redis->connect($host, (int) $port);
    $lock = (new Symfony\Component\Lock\LockFactory(new Symfony\Component\Lock\Store\RedisStore($redis)))->createLock($argv[2], 30);
    ' . $code, [$locks->addresses[0], Locks::key($resource)], '-d error_reporting=8191 -d extension=igbinary -d extension=redis');

// DistributedLock holds: Symfony is refused, and acquires the lock afterwards.
$lease = $locks->manager()->acquire($resource, 0, 30);
$child = $symfony('
    var_dump($lock->acquire());
    fgets(STDIN);
    var_dump($lock->acquire());
    fgets(STDIN);
    $lock->release();
    var_dump(false);
');
same('bool(false)', $child->readLine(), 'Symfony, while held here');
same(true, $lease->isHeld() && $lease->release(), 'release()');
$child->writeLine('');
same('bool(true)', $child->readLine(), 'Symfony, after the release');

// Symfony holds. Symfony up to 5.1 and the stores of other libraries keep a string, from 5.2 on it is a sorted set.
// While the key has a lease time it is another client's lock, whatever its type, and waiters wait for it.
$type = $redis->cmd('TYPE', Locks::key($resource));
same(null, $locks->manager()->tryAcquire($resource), 'while Symfony holds');
fails(Dlock\AcquireTimeoutException::class, '*', fn () => $locks->manager()->acquire($resource, 0.3), 'while Symfony holds');
same($type, $redis->cmd('TYPE', Locks::key($resource)), 'the key is still theirs');
$child->writeLine('');
same('bool(false)', $child->readLine(), 'Symfony, after its release');
same(0, $child->wait(), 'its exit code');
same(true, $locks->manager()->acquire($resource, 60)->release(), 'in the end');
$locks->waitUntilQueuesGone($resource);
echo "done\n";
?>
--EXPECT--
done
