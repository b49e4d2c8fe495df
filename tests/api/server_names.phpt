--TEST--
A slow resolver delays only the first call by more than an instant, costs no lease and no fork(); a failing one does no harm if the name is known
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
skip_unless_preloading();
?>
--INI--
dlock.restart_guard=0
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/names.inc';

(new Names())->run(<<<'CODE'
    const SLOW = 60.0;
    $own = private_locks("RedLock", 3); // whose connections are killed
    [$one, $two, $three] = array_map(fn (string $address) => explode(":", $address)[1], $own->addresses);
    set_names(['one.test' => [0, '127.0.0.1'], 'two.test' => [0, '127.0.0.1'], 'three.test' => [0, '127.0.0.1'], 'slow.test' => [SLOW, '127.0.0.1'],
        'none.test' => [0, '-'], 'many.test' => [0, '127.0.0.2,127.0.0.1']]);

    // One of three names takes longer than the leases last: they are renewed meanwhile.
    $red = new RedLock(["redis://one.test:$one", "redis://two.test:$two", "redis://slow.test:$three"], ttl: 30.0);
    $taken = null;
    within(0, seconds(function () use ($red, &$taken) { $taken = $red->tryAcquire(unique('slow')); }), SLOW / 2, 'tryAcquire()');
    same(true, $taken?->isHeld(), 'acquired by two of three');
    $known = new RedLock(["redis://one.test:$one", "redis://two.test:$two", "redis://three.test:$three"], ttl: 30.0);
    $lease = $known->acquire(unique('known'), 0);
    set_names(['one.test' => [0, '127.0.0.1'], 'two.test' => [0, '127.0.0.1'], 'three.test' => [SLOW, '127.0.0.1'], 'slow.test' => [SLOW, '127.0.0.1'],
        'none.test' => [0, '-'], 'many.test' => [0, '127.0.0.2,127.0.0.1']]);
    foreach ([$taken, $lease] as $held) {
        wait_for(fn () => $held->remaining() < 25, 60, "some time to pass");
        wait_for(fn () => !$held->isHeld() || $held->remaining() > 25, 60, "a renewal");
    }
    same([true, true], [$taken->isHeld(), $lease->isHeld()], 'leases shorter than a look-up');
    within(0, seconds(function () {
        if (($pid = pcntl_fork()) === 0) {
            posix_kill(getmypid(), SIGKILL);
        }
        pcntl_waitpid($pid, $status);
    }), SLOW / 2, 'fork()');
    same([true, true], [$taken->release(), $lease->release()], 'release()');

    // What is known goes on to be used.
    $lock = new DistributedLock("redis://one.test:$one");
    $raw = new RedisRaw("127.0.0.1:$one");
    foreach ([[SLOW, '127.0.0.1'], [0, '-']] as $answer) {
        $lock->acquire(unique(), 0)->release();
        set_names(['one.test' => $answer, 'none.test' => [0, '-'], 'slow.test' => [SLOW, '127.0.0.1'], 'many.test' => [0, '127.0.0.2,127.0.0.1']]);
        $raw->cmd('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
        within(0, seconds(fn () => $lock->acquire(unique(), 0)->release()), SLOW / 2, 'a new connection to a known name');
    }

    // What is not known is waited for within the connect_timeout.
    fails(Dlock\ConnectionException::class, "Redis at none.test:$one: the name was not resolved: Name or service not known",
        fn () => (new DistributedLock("redis://none.test:$one"))->acquire('x'));
    fails(Dlock\ConnectionException::class, "Redis at never.test:$one: the name was not resolved within 0.3 s", function () use ($one) {
        set_names(['never.test' => [SLOW, '127.0.0.1'], 'many.test' => [0, '127.0.0.2,127.0.0.1']]);
        (new DistributedLock("redis://never.test:$one?connect_timeout=0.3"))->acquire('x');
    });
    same(1, times_asked('never.test'), 'look-ups');
    same(true, (new DistributedLock("redis://many.test:$one"))->acquire(unique(), 0)->release(), 'the first of two addresses refuses');
    echo "done\n";
    CODE);
?>
--EXPECT--
done
