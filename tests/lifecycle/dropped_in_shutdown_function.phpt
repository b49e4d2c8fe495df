--TEST--
releaseOnShutdown: false: a lease that a shutdown function drops is released as usual; a lease that the request's end destroys is left
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$prelude = '
    [, $server, $servers, $resource] = $argv;
    function manager() { return KIND === "RedLock" ? new RedLock(explode(",", $GLOBALS["servers"]), prefix: "Lock:", releaseOnShutdown: false)
        : new DistributedLock($GLOBALS["server"], releaseOnShutdown: false); }
    function take() { return manager()->acquire($GLOBALS["resource"], 0, 1000); }
    function attach() { $manager = manager(); return $manager->attach($manager->acquire($GLOBALS["resource"], 0, 1000)->detach()); }
    function told() { echo manager()->isLocked($GLOBALS["resource"]) ? "locked\n" : "free\n"; }
    function at_the_end(callable $do) { register_shutdown_function($do); }
    final class Holder { public $lease; public function __destruct() { echo ""; } }
';
// What the program prints by told(), and whether the lock is left when the program has ended.
$cases = [
    // Dropped by the program, which runs in a shutdown function.
    'unset()' => ['at_the_end(function () { $lease = take(); unset($lease); told(); });', "free\n", 0],
    'attached, unset()' => ['at_the_end(function () { $lease = attach(); $lease = null; told(); });', "free\n", 0],
    'never kept' => ['at_the_end(function () { @take(); told(); });', "free\n", 0],
    'the end of a called function' => ['at_the_end(function () { (function () { $lease = take(); })(); told(); });', "free\n", 0],
    'the end of the shutdown function' => ['at_the_end(function () { $lease = take(); }); at_the_end("told");', "free\n", 0],
    'returned by the shutdown function' => ['at_the_end("take"); at_the_end("told");', "free\n", 0],
    'its object has gone' => ['at_the_end(function () { $holder = new Holder(); $holder->lease = take(); }); at_the_end("told");', "free\n", 0],
    'with an exception' => ['at_the_end(function () { try { (function () { $lease = take(); throw new Exception(); })(); } catch (Exception) { told(); } });', "free\n", 0],
    'collected' => ['at_the_end(function () { $holder = new Holder(); $holder->lease = [take(), $holder]; unset($holder); gc_collect_cycles(); told(); });', "free\n", 0],
    'in a fiber' => ['at_the_end(function () { (new Fiber(function () { $lease = take(); }))->start(); told(); });', "free\n", 0],
    'with its fiber' => ['at_the_end(function () { $fiber = new Fiber(function () { $lease = take(); Fiber::suspend(); }); $fiber->start(); unset($fiber); told(); });', "free\n", 0],
    'with its generator' => ['at_the_end(function () { $generator = (function () { $lease = take(); yield; })(); $generator->current(); unset($generator); told(); });', "free\n", 0],
    'taken before, by the program' => ['$lease = take(); at_the_end(function () { unset($GLOBALS["lease"]); told(); });', "free\n", 0],
    'taken before, registered before that' => ['at_the_end(function () { unset($GLOBALS["lease"]); told(); }); $lease = take();', "free\n", 0],
    'taken in one, dropped in another' => ['at_the_end(function () { global $lease; $lease = take(); at_the_end(function () { unset($GLOBALS["lease"]); told(); }); });', "free\n", 0],
    'after exit()' => ['at_the_end(function () { $lease = take(); unset($lease); told(); }); exit;', "free\n", 0],
    'after a fatal error' => ['at_the_end(function () { $lease = take(); unset($lease); told(); }); eval("abstract class A { abstract function f(); } class B extends A {}");', "*free\n", 0],
    // Destroyed by the end of the request.
    'global' => ['at_the_end(function () { $GLOBALS["lease"] = take(); told(); });', "locked\n", 1],
    'global, taken before' => ['$lease = take(); at_the_end("told");', "locked\n", 1],
    'static' => ['at_the_end(function () { static $lease; $lease = take(); told(); });', "locked\n", 1],
    'of an object' => ['at_the_end(function () { global $holder; $holder = new Holder(); $holder->lease = take(); told(); });', "locked\n", 1],
    'of a cycle' => ['at_the_end(function () { $holder = new Holder(); $holder->lease = [take(), $holder]; unset($holder); told(); });', "locked\n", 1],
    'of a fiber' => ['at_the_end(function () { global $fiber; $fiber = new Fiber(function () { $lease = take(); Fiber::suspend(); }); $fiber->start(); told(); });', "locked\n", 1],
    'of a shutdown function' => ['$lease = take(); at_the_end(function () use ($lease) { told(); }); unset($lease);', "locked\n", 1],
    'of one that was registered before' => ['(function () { $lease = null; at_the_end(function () use (&$lease) { told(); }); $lease = take(); })();', "locked\n", 1],
    'of one that takes it' => ['(function () { $lease = null; at_the_end(function () use (&$lease) { $lease = take(); told(); }); })();', "locked\n", 1],
    'an argument of a shutdown function' => ['register_shutdown_function(function () { told(); }, take());', "locked\n", 1],
    'exit()' => ['at_the_end(function () { $lease = take(); told(); exit; });', "locked\n", 1],
    'exit() in a called function' => ['at_the_end(function () { (function () { $lease = take(); told(); exit; })(); });', "locked\n", 1],
    'exit() in another' => ['$lease = take(); at_the_end(function () { told(); exit; });', "locked\n", 1],
    'a fatal error' => ['at_the_end(function () { $lease = take(); told(); eval("abstract class A { abstract function f(); } class B extends A {}"); });', "locked\n*", 1],
];
$redis = redis_raw();
foreach (['DistributedLock', 'RedLock'] as $kind) {
    foreach (array_chunk($cases, 4, true) as $some) {
        $children = [];
        foreach ($some as $what => [$code]) {
            $resource = unique("$kind $what");
            $children[$what] = [$resource, php_child("const KIND = '$kind';$prelude$code", [redis_server(), implode(',', redis_servers(3)), $resource])];
        }
        foreach ($some as $what => [, $output, $left]) {
            [$resource, $child] = $children[$what];
            $printed = $child->readAll();
            $child->wait();
            holds(fnmatch($output, $printed), "$kind, $what: told", $printed);
            same($left, $redis->cmd('EXISTS', "Lock:$resource"), "$kind, $what: left at the end");
            $redis->cmd('DEL', "Lock:$resource");
        }
    }
}

// The lock of lock() is released with its object.
foreach (['unset($lock); echo (new DistributedLock($argv[1]))->isLocked($argv[2]) ? "locked" : "free", "\n";' => ["free\n", 0], '$GLOBALS["kept"] = $lock;' => ['', 1]] as $then => [$output, $left]) {
    $child = php_child('register_shutdown_function(function () use ($argv) {
        $lock = new DistributedLock($argv[1], releaseOnShutdown: false);
        $lock->lock($argv[2], 0, 1000);
        ' . $then . '
    });', [redis_server(), $resource = unique("lock() $left")]);
    same($output, $child->readAll(), 'lock()');
    $child->wait();
    same($left, $redis->cmd('EXISTS', "Lock:$resource"), 'lock(): left at the end');
}
echo "done\n";
?>
--EXPECT--
done
