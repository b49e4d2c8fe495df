--TEST--
Laravel's cache driver "dlock" keeps data as the driver "redis" does, and its locks are dlock's
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_integration('laravel/DlockServiceProvider.php', 'php-illuminate-redis', '/usr/share/php/Illuminate/Redis/autoload.php');
skip_unless_integration('laravel/DlockServiceProvider.php', 'php-illuminate-config', '/usr/share/php/Illuminate/Config/autoload.php');
exec(escapeshellarg(PHP_BINARY) . ' -n -d extension=igbinary -d extension=redis -r "new Redis;" 2>/dev/null', $output, $code);
$code === 0 || die('skip needs the Debian package php-redis');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/integrations.inc';

$child = php_child('
    require ' . var_export(dirname(__DIR__) . '/inc/integrations.inc', true) . ';
    require ' . var_export(dirname(__DIR__) . '/inc/markdown.inc', true) . ';
    load_integrations();
    require_once "/usr/share/php/Illuminate/Container/autoload.php";
    require_once "/usr/share/php/Illuminate/Config/autoload.php";
    require_once "/usr/share/php/Illuminate/Redis/autoload.php";

    [$host, $port] = explode(":", redis_addresses()[0]);
    $server = ["host" => $host, "port" => (int) $port, "database" => 0];
    function application(array $server, array $store, string $prefix): Illuminate\Container\Container
    {
        $app = new Illuminate\Container\Container();
        $app->instance("config", new Illuminate\Config\Repository(["cache" => ["prefix" => $prefix, "stores" => ["dlock" => ["driver" => "dlock"] + $store]]]));
        $app->singleton("redis", fn ($app) => new Illuminate\Redis\RedisManager($app, "phpredis", [
            "options" => ["prefix" => "app:"], "default" => $server, "cache" => $server]));
        $app->singleton("cache", fn ($app) => new Illuminate\Cache\CacheManager($app));
        (new Dlock\Laravel\DlockServiceProvider($app))->register();
        return $app;
    }
    $dsn = redis_server();
    $prefix = unique("laravel") . ":";
    $cache = application($server, ["lock" => $dsn], $prefix)["cache"]->store("dlock");

    $cache->put("x", "data", 100);
    same("data", $cache->get("x"), "data");
    same(["x" => "data"], application($server, ["lock" => $dsn], $prefix)["cache"]->store("dlock")->many(["x"]), "data of another application object");
    same(["tag"], $cache->tags(["tag"])->getTags()->getNames(), "tags");

    $locks = new DistributedLock($dsn, "Lock:$prefix");
    $lock = $cache->lock("job", 30);
    same([true, true], [$lock->get(), $locks->isLocked("job")], "get()");
    same(false, $cache->lock("job", 30)->get(), "get() of a lock that is held");
    same(true, $cache->restoreLock("job", $lock->owner())->release(), "restoreLock()");
    $lock = $cache->lock("job", 30);
    $lock->get();
    $cache->lock("job", 30)->forceRelease();
    same(false, $locks->isLocked("job"), "forceRelease()");
    same(false, $lock->release(), "release() after forceRelease()");

    // ---- the file that docs/integrations.md shows ----
    putenv("LOCK_DSN=$dsn");
    [$file] = array_values(array_filter(array_column(blocks("docs/integrations.md"), "code"), fn (string $code) => str_contains($code, "config/cache.php")));
    $config = eval(str_replace("env(", "getenv(", $file)); // env() needs a package that Laravel of Debian lacks
    $store = application($server, $config["stores"][$config["default"]], $prefix)["cache"]->store("dlock");
    [$lock, $other] = [$store->lock("documented"), $store->lock("documented")];
    same([true, false], [$lock->get(), $other->get()], "its locks");
    $other->forceRelease();
    same([true, true], [$store->put("y", "data", 100), $store->lock("documented", 30)->get()], "its data, and forceRelease()");

    ini_set("dlock.server", $dsn);
    same(true, application($server, [], $prefix)["cache"]->store("dlock")->lock("y")->get(fn () => $locks->isLocked("y")), "the server of php.ini");
    $app = application($server, ["lock" => "redis://127.0.0.1:1"], $prefix);
    $app->instance(Dlock\LockManager::class, new DistributedLock("memory://bound"));
    same(true, $app["cache"]->store("dlock")->lock("z")->get(fn () => (new DistributedLock("memory://bound"))->isLocked("z")), "a manager in the container");
    echo "done\n";
', [], '-d extension=igbinary -d extension=redis');
echo $child->readAll();
$child->wait();
?>
--EXPECT--
done
