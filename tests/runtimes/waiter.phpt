--TEST--
Runtimes: Dlock\setWaiter(): what the waiter receives, what it may do, and until when it is called
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

// ---- setting it ----
same(null, Dlock\setWaiter(null), 'none at first');
$one = fn () => null;
same(null, Dlock\setWaiter($one), 'a first one');
same($one, Dlock\setWaiter('strlen'), 'returns the one before');
same('strlen', Dlock\setWaiter(null), 'also a name');
fails(TypeError::class, '*must be a valid callback or null*', fn () => Dlock\setWaiter('no such function'));

/** The blocked signals. */
function blocked(): string
{
    preg_match('/^SigBlk:\s*(\w+)/m', file_get_contents('/proc/thread-self/status'), $found);
    return $found[1];
}

foreach (strand_kinds() as $name => $kind) {
    if ($name === 'memcached') {
        continue; // it polls, and receives no message of a release
    }
    $manager = $kind->manager();
    $resource = unique($name);
    $hold = function (string $part = '') use ($kind, $manager, $resource) { // another strand: this one would wait for itself
        $before = Dlock\setWaiter(null);
        $fiber = new Fiber(fn () => $manager->acquire($resource . $part, timeout: 0, ttl: $kind->ttl(100)));
        $fiber->start();
        Dlock\setWaiter($before);
        return $fiber->getReturn();
    };
    $mask = blocked();

    // ---- the stream and the seconds ----
    $lease = $hold();
    $kept = [];
    Dlock\setWaiter(function ($stream, $seconds) use ($name, $mask, $lease, &$kept) {
        same(true, is_resource($stream) && is_float($seconds), "$name: the arguments");
        holds($seconds > 0 && $seconds <= 60, "$name: the time", $seconds);
        same($mask, blocked(), "$name: the signal mask is the program's");
        $read = [$stream];
        $none = null;
        $ready = stream_select($read, $none, $none, 0, 1000);
        if (count($kept) === 3) {
            $lease->release(); // so that the call looks
        }
        if (count($kept) === 4) {
            same(false, @fread($stream, 10), "$name: nothing can be read from it");
            fclose($stream);
        }
        $kept[] = is_resource($stream) ? $stream : null;
        holds(count($kept) < 2000, "$name: the waiter is called too often");
    });
    same(true, $manager->acquire($resource, timeout: 60, ttl: $kind->ttl(100))->release(), "$name: acquire()");
    holds(count($kept) >= 4, "$name: early returns are harmless", count($kept));
    foreach (array_filter($kept) as $stream) {
        $read = [$stream];
        $none = null;
        same(ValueError::class, get_debug_type(thrown_by(fn () => @stream_select($read, $none, $none, 0))), "$name: afterwards it leads nowhere");
    }

    // ---- the waiter returns false: it cannot wait here ----
    $calls = 0;
    Dlock\setWaiter(function () use (&$calls) {
        $calls++;
        return false;
    });
    $other = fork_child(function (callable $say, callable $hear) use ($kind, $resource) {
        $lease = $kind->manager()->acquire("$resource-other", timeout: 0, ttl: $kind->ttl(100));
        $say('has it');
        $hear();
        pause(0.3);
        return $lease->release();
    });
    if ($name !== 'memory') { // a child has a memory of its own
        same('has it', $other->hear(), "$name: another process");
        $other->say('give it back');
        same(true, $manager->acquire("$resource-other", timeout: 60, ttl: $kind->ttl(100))->release(), "$name: acquire() without a wait by the waiter");
        holds($calls >= 1, "$name: the waiter was asked", $calls);
        same(true, $other->result(), "$name: release() of the other process");
    } else {
        $other->kill();
    }

    // ---- from the next wait on another waiter is called ----
    $lease = $hold('-replaced');
    $calls = [];
    $second = function () use (&$calls, $lease) {
        $calls[] = 'second';
        $lease->release();
    };
    Dlock\setWaiter(function () use (&$calls, $second) {
        $calls[] = 'first';
        Dlock\setWaiter($second);
    });
    same(true, $manager->acquire("$resource-replaced", timeout: 60, ttl: $kind->ttl(100))->release(), "$name: with two waiters");
    same(['first', 'second'], array_slice($calls, 0, 2), "$name: one after the other");

    // ---- nested: the waiter of {main} runs a loop, with waits of its own ----
    Strands::install();
    $lease = $hold('-main');
    $inner = $hold('-inner');
    Strands::spawn(function () use ($kind, $manager, $resource, $lease, $inner, $name) {
        Strands::pause(0.01);
        $inner->release();
        Strands::pause(0.05);
        $lease->release();
    });
    $had = (object) ['inner' => false];
    Strands::spawn(function () use ($kind, $manager, $resource, $had, $name) {
        $had->inner = $manager->acquire("$resource-inner", timeout: 60, ttl: $kind->ttl(100))->release();
    });
    same(true, $manager->acquire("$resource-main", timeout: 60, ttl: $kind->ttl(100))->release(), "$name: {main} waits");
    same(true, $had->inner, "$name: and a strand meanwhile");
    Strands::run();

    // ---- an exception of the waiter passes unchanged ----
    $lease = $hold('-thrown');
    $thrown = new class('of the waiter') extends Error {};
    Dlock\setWaiter(fn () => throw $thrown);
    same($thrown, thrown_by(fn () => $manager->acquire("$resource-thrown", timeout: 60)), "$name: the exception comes through");
    same(null, $thrown->getPrevious(), "$name: and nothing with it");
    Dlock\setWaiter(null);
    same(true, $lease->release(), "$name: release()");
    $kind->waitUntilGone("$resource-thrown");
}

// ---- if fibers cannot be switched, the waiter is not called ----
$lock = new DistributedLock(redis_server());
$resource = unique('handler');
$lease = $lock->acquire($resource, 0, 100);
$calls = 0;
Dlock\setWaiter(function () use (&$calls) {
    $calls++;
});
pcntl_async_signals(true);
$result = 'not called';
pcntl_signal(SIGUSR1, function () use ($lock, $resource, &$result) {
    $result = $lock->tryAcquire($resource, 0.05);
});
posix_kill(getmypid(), SIGUSR1);
same([null, 0], [$result, $calls], 'in a handler of a signal');
echo "done\n";
?>
--EXPECT--
done
