--TEST--
synchronized() throws LeaseLostException if the lock was lost before the section ended, whatever the section returned or threw
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

use Dlock\Lease;
use Dlock\LeaseLostException;

$cases = [
    'DistributedLock' => [new DistributedLock(redis_server()), 'Lock:', 1],
    'RedLock' => [new RedLock(redis_servers(3)), '', 3],
];
foreach ($cases as $name => [$manager, $prefix, $servers]) {
    $resource = unique($name);
    $message = "The lock \"$resource\" was lost before its critical section ended";
    $ways = [
        'the lease time is over' => fn (Lease $lease) => wait_for(fn () => !$lease->isHeld(), 60, 'the end of the lease'),
        'the key is another\'s' => function () use ($servers, $prefix, $resource) {
            for ($i = 0; $i < $servers; $i++) {
                redis_raw($i)->cmd('SET', $prefix . $resource, 'theirs', 'PX', 50_000);
            }
        },
        'the key is gone' => function (Lease $lease) use ($servers, $prefix, $resource) {
            for ($i = 0; $i < $servers; $i++) {
                wait_for(fn () => redis_raw($i)->cmd('GET', $prefix . $resource) === $lease->token, 60, 'the key');
                redis_raw($i)->cmd('DEL', $prefix . $resource);
            }
        },
    ];
    foreach ($ways as $way => $lose) {
        $ttl = $way === 'the lease time is over' ? 0.1 : 100;
        $run = fn (callable $section) => thrown_by(fn () => $manager->synchronized($resource, $section, ttl: $ttl));
        $clean = function () use ($servers, $prefix, $resource) {
            for ($i = 0; $i < $servers; $i++) {
                redis_raw($i)->cmd('DEL', $prefix . $resource);
            }
        };

        $e = $run(function (Lease $lease) use ($lose) {
            $lose($lease);
            return 'a result';
        });
        same([LeaseLostException::class, $message], [get_debug_type($e), $e?->getMessage()], "$name: $way");
        same(null, $e?->getPrevious(), "$name: $way: the previous exception");
        $clean();

        $own = new DomainException('of the section');
        $e = $run(function (Lease $lease) use ($lose, $own) {
            $lose($lease);
            throw $own;
        });
        same([LeaseLostException::class, $message], [get_debug_type($e), $e?->getMessage()], "$name: $way, and it throws");
        same(true, $e?->getPrevious() === $own, "$name: $way: the section's exception is the previous");
        $clean();
    }
    // None of these calls touched the other client's lock.
    same('done', $manager->synchronized($resource, fn () => 'done'), "$name: afterwards");
}
echo "done\n";
?>
--EXPECT--
done
