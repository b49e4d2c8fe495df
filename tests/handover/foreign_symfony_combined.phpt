--TEST--
Symfony's CombinedStore of several RedisStores, with a majority, and RedLock exclude each other
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

[, $locks] = shared_locks();
$resource = unique();
$child = php_child('
    require "/usr/share/php/Symfony/Component/Lock/autoload.php";
    $stores = array_map(function (string $address) {
        [$host, $port] = explode(":", $address);
        $redis = new Redis;
        $redis->connect($host, (int) $port);
        return new Symfony\Component\Lock\Store\RedisStore($redis);
    }, explode(",", $argv[1]));
    $store = new Symfony\Component\Lock\Store\CombinedStore($stores, new Symfony\Component\Lock\Strategy\ConsensusStrategy);
    $lock = (new Symfony\Component\Lock\LockFactory($store))->createLock($argv[2], 30);
    while (fgets(STDIN) === "acquire\n") {
        var_dump($lock->acquire());
        fgets(STDIN);
        $lock->release();
        var_dump("released");
    }
', [implode(',', $locks->addresses), Locks::key($resource)], '-d error_reporting=8191 -d extension=igbinary -d extension=redis');

// RedLock holds on all servers, and on three of five.
foreach ([[], [0, 3]] as $without) {
    $lease = $locks->manager()->acquire($resource, 0, 30);
    wait_for(fn () => array_filter($locks->raw(), fn (RedisRaw $redis) => $redis->cmd('EXISTS', Locks::key($resource)) === 0) === [], 60, 'all servers');
    foreach ($without as $i) {
        $locks->raw()[$i]->cmd('DEL', Locks::key($resource));
    }
    $child->writeLine('acquire');
    same('bool(false)', $child->readLine(), 'Symfony, while held here by ' . 5 - count($without));
    $child->writeLine('release');
    same('string(8) "released"', $child->readLine(), 'Symfony, which does not hold it');
    same(true, $lease->isHeld() && $lease->release(), 'release()');
}

// Symfony holds, and RedLock waits.
wait_for(fn () => !$locks->manager()->isLocked($resource), 60, 'the end of the lock');
$child->writeLine('acquire');
same('bool(true)', $child->readLine(), 'Symfony, after the release');
same(null, $locks->manager()->tryAcquire($resource), 'while Symfony holds');
$waiter = $locks->waiter($resource);
$locks->waitUntilQueued($resource, 1);
$child->writeLine('release');
same('string(8) "released"', $child->readLine(), 'Symfony');
$waiter->hear();
$child->writeLine('acquire');
same('bool(false)', $child->readLine(), 'Symfony, while the waiter holds');
$waiter->say('release');
same(true, $waiter->result(), 'release() of the waiter');
$child->closeInput();
same(0, $child->wait(), 'its exit code');
$locks->waitUntilQueuesGone($resource);
echo "done\n";
?>
--EXPECT--
done
