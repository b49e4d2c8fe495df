--TEST--
runtimes: waits behind Sentinels, in a cluster and in databases: in order, cancelled, in a forked child; nothing is left
--EXTENSIONS--
pdo
mysqlnd
pdo_mysql
pdo_pgsql
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_databases();
skip_unless_functions('pcntl_fork', 'posix_kill');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/strands.inc';
require __DIR__ . '/../inc/database.inc';
require __DIR__ . '/../inc/replicated.inc';

const COUNT = 20;

/** What is left of a resource. */
function left(object $servers, string $resource): array
{
    if ($servers instanceof PrivateDatabase) {
        return [$servers->token("Lock:$resource"), $servers->waiters("Lock:$resource")];
    }
    return array_filter(master($servers, $resource)->cmd('KEYS', "*$resource*"), fn (string $key) => preg_match('/^(Lock|dlock:queue|dlock:waiters):/', $key));
}

function master(object $servers, string $resource): RedisRaw
{
    static $raw = [];
    return $raw[$resource] ??= ($servers instanceof ClusterSet ? $servers->masterOf(key_slot("Lock:$resource")) : $servers->master())->raw();
}

function count_waiters(object $servers, string $resource): int
{
    if ($servers instanceof PrivateDatabase) {
        return count($servers->waiters("Lock:$resource"));
    }
    $raw = master($servers, $resource);
    return array_sum(array_map(fn (string $key) => $raw->cmd('ZCARD', $key), $raw->cmd('KEYS', "dlock:queue:*$resource*")));
}

function wait_until_nothing_is_left(object $servers, string $resource): void
{
    wait_for(fn () => in_array(left($servers, $resource), [[], [null, []]], true), 60, "nothing of $resource to be left");
}

$kinds = ['Sentinel' => new SentinelSet(), 'Cluster' => new ClusterSet(), 'pgsql' => new PrivatePostgres(), 'mysql' => new PrivateMariaDb()];
$locks = array_map(fn (object $servers) => new DistributedLock($servers->dsn()), $kinds);
Strands::install();
foreach ($locks as $name => $lock) { // what has just been set up grants no locks for the time of its guard
    Strands::spawn(fn () => $lock->acquire(unique($name), 60)->release());
}
Strands::run();
foreach ($kinds as $name => $servers) {
    [$lock, $resource] = [$locks[$name], unique($name)];
    // ---- in order, and others go on meanwhile ----
    $order = [];
    $inside = $ticks = 0;
    $lease = $lock->acquire($resource, 0);
    for ($i = 0; $i < COUNT; $i++) {
        Strands::spawn(function () use ($lock, $resource, $i, $name, &$order, &$inside, &$ticks) {
            $lease = $lock->acquire($resource, 60);
            same(1, ++$inside, "$name: inside");
            Strands::pause(0.001);
            $order[] = $i;
            $inside--;
            $lease->release();
        });
        Strands::run(fn () => count_waiters($servers, $resource) > $i);
    }
    Strands::spawn(function () use (&$order, &$ticks) {
        for (; count($order) < COUNT; $ticks++) {
            Strands::pause(0.001);
        }
    });
    $lease->release();
    Strands::run();
    same(range(0, COUNT - 1), $order, "$name: in order");
    holds($ticks > COUNT, "$name: others go on meanwhile", $ticks);
    wait_until_nothing_is_left($servers, $resource);

    // ---- cancelled by an exception, dropped, and granted before that ----
    $lease = $lock->acquire($resource, 0);
    $thrown = null;
    $fibers = [];
    for ($i = 0; $i < 3; $i++) {
        $fibers[] = Strands::start(function () use ($lock, $resource, &$thrown) {
            try {
                $lock->acquire($resource, 60);
            } catch (RuntimeException $e) {
                $thrown = $e->getMessage();
            }
        });
        Strands::run(fn () => count_waiters($servers, $resource) > $i);
    }
    Strands::drop();
    $fibers[0]->throw(new RuntimeException('cancelled'));
    same('cancelled', $thrown, "$name: an exception comes through");
    unset($fibers[1]);
    $lease->release(); // to the third one
    unset($fibers[2], $fibers);
    same(true, $lock->acquire($resource, 60)->release(), "$name: another one gets it");
    wait_until_nothing_is_left($servers, $resource);

    // ---- a fork ----
    $lease = $lock->acquire($resource, 0);
    $got = new ArrayObject();
    for ($i = 0; $i < 3; $i++) {
        Strands::spawn(function () use ($lock, $resource, $got, $i) {
            $got[$i] = thrown_by(fn () => $lock->acquire($resource, 60)->release());
        });
    }
    Strands::run(fn () => count_waiters($servers, $resource) === 3);
    $child = fork_child(function () use ($lock, $resource, $got) {
        $lock->isLocked($resource); // over a connection of its own
        Strands::hurry();
        Strands::run();
        return array_map(fn (?Throwable $e) => $e ? [$e::class, $e->getMessage()] : null, $got->getArrayCopy());
    });
    $result = $child->result();
    ksort($result);
    same(array_fill(0, 3, [Dlock\LeaseLostException::class, 'The wait began in a parent process']), $result, "$name: the child");
    same(true, $lease->release(), "$name: release()");
    Strands::run();
    $got->ksort();
    same([null, null, null], $got->getArrayCopy(), "$name: in the parent all have it");
    wait_until_nothing_is_left($servers, $resource);
}
echo "done\n";
?>
--EXPECT--
done
