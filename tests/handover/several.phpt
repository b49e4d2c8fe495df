--TEST--
A waiter for several locks acquires all, although other clients acquire each all the time; it keeps none meanwhile, and its death costs at most a lease
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/handover.inc';
require __DIR__ . '/../inc/seen.inc';

const SECTIONS = 40;

foreach ([
    'redis' => fn () => new DistributedLock(redis_server()),
    'three' => fn () => new RedLock(redis_servers(3), prefix: 'Lock:'),
] as $what => $make) {
    $servers = $what === 'three' ? 3 : 1;
    [$a, $b, $c] = array_map(fn (string $name) => unique("$what-$name"), ['a', 'b', 'c']);

    // ---- while a waiter waits for one lock, other clients acquire a free one; then that is kept for the waiter ----
    $locks = $make();
    $lease = $locks->acquire($a, 0, 100);
    $addresses = array_slice(redis_addresses(), 0, $servers);
    $keepers = array_map(fn (string $name) => keep_alive($addresses, "Lock:$name"), [$a, $b]);
    $single = fork_child(fn () => $make()->acquire($a, 60, 100)->release());
    at_end($single->kill(...));
    wait_for_parties($locks, $a, 1, 1);
    $both = fork_child(function (callable $say, callable $hear) use ($make, $a, $b) {
        $lease = $make()->acquire([$b, $a], 60, 100);
        $say($lease->fencingToken);
        $hear();
        return $lease->release();
    });
    at_end($both->kill(...));
    wait_for_parties($locks, $a, 1, 2);
    $waits = $locks->inspect($b);
    same([0, 1], [count($waits->holders), $waits->waiting], "$what: it waits for the free one, too");
    same($both->pid, $waits->waiters[0]->pid, "$what: who waits");
    same(true, $locks->acquire($b, 0, 100)->release(), "$what: which others get meanwhile");
    $last = $lease->fencingToken;
    $lease->release();
    same(true, $single->result(), "$what: who came first");
    $token = $both->hear();
    array_map(fn (ForkedChild $keeper) => $keeper->kill(), $keepers);
    holds($token > $last, "$what: its fencing token", $token, $last);
    same([null, null], [$locks->tryAcquire($a), $locks->tryAcquire($b)], "$what: it has both");
    $both->say('go');
    same(true, $both->result(), "$what: its release()");

    // ---- a waiter for several locks gives up: the one that was kept for it is offered to the next waiter ----
    $lease = $locks->acquire($a, 0, 100);
    $keepers = array_map(fn (string $name) => keep_alive($addresses, "Lock:$name"), [$a, $b]);
    $both = fork_child(function () use ($make, $a, $b) {
        pcntl_async_signals(true);
        pcntl_signal(SIGUSR1, fn () => throw new DomainException('enough'));
        return get_debug_type(thrown_by(fn () => $make()->acquire([$a, $b], 60, 100)));
    });
    at_end($both->kill(...));
    wait_for_parties($locks, $b, 0, 1);
    $single = fork_child(fn () => $make()->acquire($b, 60, 100)->release());
    at_end($single->kill(...));
    wait_for_parties($locks, $b, 0, 2);
    $inboxes = [];
    for ($i = 0; $i < $servers; $i++) {
        $redis = redis_raw($i);
        $name = wait_for(function () use ($redis, $b, &$waiters) {
            $waiters = $redis->cmd('HGETALL', Locks::waiters($b));
            return array_values(preg_grep('/^[0-9a-f]{32}/', $waiters))[0] ?? null;
        }, 60, 'the next waiter');
        $channel = explode(' ', $waiters[array_search($name, $waiters, true) + 1])[3];
        $redis->cmd('SUBSCRIBE', $channel);
        $inboxes[] = [$name, $redis, $channel];
    }
    $both->signal(SIGUSR1);
    same(DomainException::class, $both->result(), "$what: it gives up");
    same(true, $single->result(), "$what: who acquires what was kept");
    $offers = 0;
    foreach ($inboxes as $i => [$name, $redis, $channel]) {
        redis_raw($i)->cmd('PUBLISH', $channel, 'end');
        for ($offered = false; ($message = $redis->reply()[2]) !== 'end';) {
            $offered = $offered || explode(' ', $message)[0] === $name;
        }
        $offers += (int) $offered;
    }
    holds($offers > intdiv($servers, 2), "$what: a majority has offered it", $offers);
    array_map(fn (ForkedChild $keeper) => $keeper->kill(), $keepers);
    same(true, $lease->release(), "$what: the other lock");

    // ---- some clients want one of three all the time, one wants all three: no two holders, and each has its turns
    // ----
    $file = temporary_directory() . '/turns';
    $children = [];
    foreach ([...array_fill(0, 2, [$a]), ...array_fill(0, 2, [$b]), ...array_fill(0, 2, [$c]), [$a, $b, $c], [$c, $a]] as $wanted) {
        $children[] = $child = fork_child(function () use ($make, $wanted) {
            $locks = $make();
            $record = redis_raw();
            $wrong = 0;
            for ($i = 0; $i < SECTIONS; $i++) {
                $lease = $locks->acquire($wanted, 60, 100);
                foreach ($wanted as $name) {
                    $wrong += (int) ($record->cmd('SET', "holder:$name", $lease->token, 'NX') === null);
                    $wrong += (int) ((int) $record->cmd('GETSET', "last:$name", (string) $lease->fencingToken) >= $lease->fencingToken);
                }
                foreach ($wanted as $name) {
                    $wrong += (int) ($record->cmd('GET', "holder:$name") !== $lease->token);
                    $record->cmd('DEL', "holder:$name");
                }
                $wrong += (int) !$lease->release();
            }
            return $wrong;
        });
        at_end($child->kill(...));
    }
    foreach ($children as $i => $child) {
        same(0, $child->result(), "$what: what went wrong with client $i");
    }

    // ---- a waiter dies in front of its queues; another is stopped ----
    $lease = $locks->acquire($a, 0, 100);
    $dead = fork_child(fn () => $make()->acquire([$a, $b], 60, 100)->release());
    wait_for_parties($locks, $a, 1, 1);
    $dead->kill();
    same(true, $lease->release(), "$what: a release to one that is dead");
    same(true, $locks->acquire([$b, $a], 60, 100)->release(), "$what: after that");
    $keys = array_merge(...array_map(fn (string $name) => ["Lock:$name", Locks::queue($name), Locks::waiters($name)], [$a, $b, $c]));
    for ($i = 0; $i < $servers; $i++) {
        wait_for(fn () => redis_raw($i)->cmd('EXISTS', ...$keys) === 0, 60, "$what: nothing to be left");
    }
}
echo "done\n";
?>
--EXPECT--
done
