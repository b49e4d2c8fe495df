--TEST--
Runtimes: eight strands per process, whose waits are canceled and dropped while connections break and servers stand still: one holder at a time, and nothing is left
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
skip_unless_functions('pcntl_fork', 'posix_kill');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/strands.inc';

// scripts/test-all.sh runs it for longer. DLOCK_STORM_SEED makes the same choices again.
$length = (float) (getenv('DLOCK_STORM_SECONDS') ?: 4);
$seed = (int) (getenv('DLOCK_STORM_SEED') ?: random_int(1, 1000000));
const PROCESSES = 3, STRANDS = 8, RESOURCES = 2;

/**
 * Runs eight strands until the time has passed and one has entered a section.
 * @return array{sections: int, ended: int, longest: float} number of sections, waits that ended otherwise, and the
 *     longest wait
 */
function storm(Closure $make, string $prefix, float $until, string $gates, int $seed): array
{
    mt_srand($seed);
    Strands::install();
    $locks = $make();
    $now = (object) ['sections' => 0, 'ended' => 0, 'longest' => 0.0];
    $cancel = false;
    Strands::$before = function () use (&$cancel) {
        [$was, $cancel] = [$cancel, false];
        $was && throw new RuntimeException('cancelled');
    };
    $strand = function () use ($locks, $prefix, $until, $gates, $now) {
        while (now() < $until || $now->sections === 0) {
            $resource = mt_rand(1, RESOURCES);
            $start = now();
            try {
                $lease = $locks->acquire("$prefix-$resource", timeout: mt_rand(0, 3) ? 20 : 0.05);
            } catch (Dlock\DlockException | RuntimeException $e) {
                $now->ended++;
                Strands::pause(0.01);
                continue;
            } finally {
                $now->longest = max($now->longest, now() - $start);
            }
            try {
                if ($lease->isHeld()) {
                    enter("$gates-$resource");
                    try {
                        Strands::pause(mt_rand(0, 5) / 1000);
                    } finally { // also if it is dropped
                        leave("$gates-$resource");
                    }
                    $lease->isHeld() || throw new LogicException('lost within its time');
                    $now->sections++;
                }
                mt_rand(0, 9) ? $lease->release() : $lease = null;
            } catch (Dlock\DlockException) {
                $now->ended++;
            }
        }
    };
    $fibers = [];
    for ($i = 0; $i < STRANDS; $i++) {
        $fibers[$i] = Strands::spawn($strand);
    }
    Strands::spawn(function () use (&$fibers, &$cancel, $strand, $until) {
        while (now() < $until) {
            Strands::pause(mt_rand(5, 100) / 1000);
            $cancel = mt_rand(0, 2) === 0; // the next wait of any strand
            if (mt_rand(0, 3) === 0) { // another strand replaces one that is dropped in the middle of something
                $i = mt_rand(0, STRANDS - 1);
                Strands::forget($fibers[$i]);
                $fibers[$i] = Strands::spawn($strand);
            }
        }
    });
    Strands::run();
    return (array) $now;
}

$server = redis_private();
$kinds = [
    'DistributedLock' => fn () => new DistributedLock($server->dsn(), ttl: 30, renew: true),
    'Semaphore' => fn () => new OnePermit(new Dlock\Semaphore(1, $server->dsn(), 'Lock:', ttl: 30, renew: true)),
    'RedLock' => fn () => new RedLock([$server->dsn(), ...array_slice(redis_servers(3), 1)], prefix: 'Lock:', ttl: 30, renew: true),
    'ZkLock' => fn () => new ZkLock(zk_hosts(), sessionTimeout: 30),
];
foreach ($kinds as $name => $make) {
    $prefix = unique($name);
    $gates = gate();
    $until = now() + $length / count($kinds);
    $children = [];
    for ($i = 0; $i < PROCESSES; $i++) {
        $children[] = fork_child(fn () => storm($make, $prefix, $until, $gates, $seed + $i));
    }
    mt_srand($seed);
    $raw = $server->raw();
    while (now() < $until) { // connections break, and the server stands still
        pause(mt_rand(50, 300) / 1000);
        match (mt_rand(0, 3)) {
            0 => $raw->cmd('CLIENT', 'KILL', 'TYPE', 'pubsub'),
            1 => $raw->cmd('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'),
            2 => $server->pause(),
            3 => null,
        };
        pause(mt_rand(0, 100) / 1000);
        $server->resume();
    }
    $results = array_map(fn (ForkedChild $child) => $child->result(120), $children);
    // Some dropped fibers are not collected for a while: they keep no other strand waiting for longer.
    holds(max(array_column($results, 'longest')) < 55, "$name: time limits of at most 20 s (seed $seed)", $results);
    $left = $make();
    for ($i = 1; $i <= RESOURCES; $i++) {
        wait_for(fn () => !$left->isLocked("$prefix-$i"), 60, "$name: $prefix-$i to be free (seed $seed)");
        $name === 'ZkLock' ? wait_for_nodes(zk_raw(), 0, "$prefix-$i") : same(true, $left->acquire("$prefix-$i", timeout: 60)->release(), "$name: and to be had");
    }
}
echo "done\n";
?>
--EXPECT--
done
