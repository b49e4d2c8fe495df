--TEST--
A process that ends inside synchronized() leaves the lock free
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/permits.inc';

$ends = [
    'exit' => ['exit(3);', 3, ''],
    'exit, nested' => ['(function () { (fn () => exit(4))(); })();', 4, ''],
    'an uncaught exception' => ['throw new LogicException("uncaught");', 255, 'Uncaught LogicException: uncaught'],
    'a fatal error' => ['eval("abstract class A { abstract function f(); } class B extends A {}");', 255, 'Fatal error'],
    'the memory limit' => ['ini_set("memory_limit", "8M"); $s = str_repeat("x", 50_000_000);', 255, 'Allowed memory size'],
    'the time limit' => ['reach_time_limit();', 255, 'Maximum execution time of 1 second exceeded'],
    'exit after the lock was lost' => ['wait_for(fn () => !$lease->isHeld()); exit(5);', 5, ''],
];
if (!has_memory_limit()) {
    unset($ends['the memory limit']);
}
$managers = [
    'DistributedLock' => ['new DistributedLock($argv[1])', 'Lock:'],
    'RedLock' => ['new RedLock(explode(",", $argv[2]))', ''],
    'Semaphore' => ['new Dlock\Semaphore(1, $argv[1])', 'Semaphore:'],
    'ReadWriteLock, a writer' => ['(new Dlock\ReadWriteLock($argv[1]))->writeLock()', 'ReadWriteLock:'],
    'ReadWriteLock, a reader' => ['(new Dlock\ReadWriteLock($argv[1]))->readLock()', 'ReadWriteLock:'],
];
$redis = redis_raw();
foreach ($managers as $name => [$new, $prefix]) {
    $is_pool = $prefix === 'Semaphore:' || $prefix === 'ReadWriteLock:';
    $children = [];
    foreach ($ends as $end => [$code, $exit_code, $output]) {
        $ttl = str_contains($end, 'lost') ? '1' : '1000';
        $child = php_child(str_replace('NEW', $new, '
            require ' . var_export(__DIR__ . '/../inc/api.inc', true) . ';
            patiently(fn () => (NEW)->synchronized($argv[3], function (Dlock\Lease $lease) {
                echo "inside\n";
                fgets(STDIN);
                ' . $code . '
            }, ttl: ' . $ttl . '));
            echo "not reached\n";
        '), [redis_server(), implode(',', redis_servers(3)), $resource = unique("$name $end")]);
        $children[] = [$end, $exit_code, $output, $prefix . $resource, $child];
    }
    foreach ($children as [$end, $exit_code, $output, $key, $child]) {
        same('inside', $child->readLine(), "$name: $end");
        $child->writeLine('end');
        $text = $child->readAll();
        holds(str_contains($text, $output) && !str_contains($text, 'not reached') && ($output !== '' || $text === ''), "$name: the output of $end", $text);
        same($exit_code, $child->wait(), "$name: the exit code of $end");
        // The key of a pool stays for a while, without holders.
        same(0, $is_pool ? counts_of($key, 1)['held'] : $redis->cmd('EXISTS', $key), "$name: the key after $end");
    }
}
echo "done\n";
?>
--EXPECT--
done
