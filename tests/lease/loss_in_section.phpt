--TEST--
onLoss: "throw" in synchronized(): the caller is told once, whatever the section does about it, and despite signal handlers
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork', 'pcntl_async_signals', 'posix_kill');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/lease.inc';

use Dlock\Lease;
use Dlock\LeaseLostException;

/** Classes and messages of an exception and its previous ones. */
function chain(?Throwable $e): array
{
    for ($chain = []; $e; $e = $e->getPrevious()) {
        $chain[] = $e::class . ': ' . $e->getMessage();
    }
    return $chain;
}

foreach (renewed_locks_and_pools() as $name => $locks) {
    $manager = $locks->manager(ttl: 2.0, onLoss: 'throw');
    $number = 0;
    $in_section = '';
    $section = function (callable $do) use ($locks, $manager, $name, &$number, &$in_section) {
        $in_section = $resource = unique("$name-" . ++$number);
        return fn () => patiently(fn () => $manager->synchronized($resource, function (Lease $lease) use ($locks, $do) {
            return $do($lease, function () use ($locks, $lease) {
                take_away($locks, $lease->resource);
                while (true) {
                    nap(0.001);
                }
            });
        }));
    };
    $thrown = function () use (&$in_section) {
        return LeaseLostException::class . ": The lock \"$in_section\" was lost while it was held";
    };
    $told = function () use (&$in_section) {
        return LeaseLostException::class . ": The lock \"$in_section\" was lost before its critical section ended";
    };
    $quiet = fn (string $what) => same([], chain(thrown_by(fn () => busy(0.5))), "$name: after $what");

    $e = thrown_by($section(fn ($lease, $lose) => $lose()));
    same([$thrown()], chain($e), "$name: thrown into the section");
    $quiet('the section');

    $went_on = false;
    $e = thrown_by($section(function ($lease, $lose) use (&$went_on) {
        try {
            $lose();
        } catch (LeaseLostException) {
            $went_on = true;
        }
        return 'a result';
    }));
    same([[$told()], true], [chain($e), $went_on], "$name: caught by the section, which returns");
    $quiet('a section that returned');

    $e = thrown_by($section(function ($lease, $lose) {
        try {
            $lose();
        } catch (LeaseLostException) {
        }
        throw new DomainException('of the section');
    }));
    same([$told(), 'DomainException: of the section'], chain($e), "$name: caught by the section, which throws something else");

    $e = thrown_by($section(function ($lease, $lose) {
        try {
            $lose();
        } catch (LeaseLostException $e) {
            throw new DomainException('of the section', 0, $e);
        }
    }));
    same([$told(), 'DomainException: of the section', $thrown()], chain($e), "$name: wrapped by the section");

    $e = thrown_by($section(function ($lease, $lose) {
        try {
            $lose();
        } finally {
            busy(0.3);
        }
    }));
    same([$thrown()], chain($e), "$name: the section has a finally block");

    $e = thrown_by($section(function ($lease) use ($locks) {
        take_away($locks, $lease->resource);
        return 'a result'; // most likely before the loss is known
    }));
    same(true, in_array(chain($e), [[$told()], [$thrown()]], true), "$name: a section that ends at once");
    $quiet('a section that ended at once');
    same('a result', $locks->manager(ttl: 60, onLoss: 'throw')->synchronized(unique("$name-kept"), fn () => 'a result'), "$name: a section without a loss");
    $quiet('a section without a loss');

    // A section inside another, both lost: the caller is told of both, of the inner one first. The outer loss may be
    // thrown before the inner lock is lost.
    for ($attempt = 0, $both = false; $attempt < 20 && !$both; $attempt++) {
        $inner = unique("$name-inner-$attempt");
        $e = thrown_by($section(function ($lease) use ($manager, $locks, $inner) {
            $manager->synchronized($inner, function () use ($lease, $inner, $locks) {
                take_away($locks, $lease->resource);
                take_away($locks, $inner);
                while (true) {
                    nap(0.001);
                }
            });
        }));
        $messages = implode("\n", chain($e));
        $both = str_contains($messages, "\"$in_section\" was lost") && str_contains($messages, "\"$inner\" was lost");
    }
    holds($both, "$name: two sections", $messages);
    $quiet('two sections');

    // ---- signals during the whole time ----
    pcntl_async_signals(true);
    $signals = 0;
    pcntl_signal(SIGUSR1, function () use (&$signals) {
        $signals++;
    });
    $parent = getmypid();
    $sender = fork_child(function () use ($parent) {
        while (posix_kill($parent, SIGUSR1)) {
            nap(0.001);
        }
    });
    for ($i = 0; $i < 5; $i++) {
        $before = $signals;
        $e = thrown_by($section(function ($lease, $lose) use (&$signals, $before) {
            while ($signals === $before);
            $lose();
        }));
        same([$thrown()], chain($e), "$name: while signals are handled");
    }
    $before = $signals;
    holds(busy_until(function () use (&$signals, $before) {
        return $signals > $before;
    }, 60) !== null, "$name: signals are handled after a loss");
    $sender->kill();

    // A handler throws at the same time: neither exception is forgotten.
    pcntl_signal(SIGUSR2, fn () => throw new DomainException('of the handler'));
    $sent = temporary_directory() . '/sent';
    do { // repeats it if the loss was noticed before the call
        $lease = patiently(fn () => $manager->acquire(unique("$name-signal-" . ++$number), 60));
        $e = thrown_by(function () use ($locks, $lease, $parent, $sent) {
            take_away($locks, $lease->resource);
            // Both happen during this call: it is longer than the lease.
            exec("touch $sent; kill -USR2 $parent; exec timeout 3 tail -f /dev/null");
            while (true);
        });
    } while (!is_file($sent));
    $chain = chain($e);
    if (count($chain) < 2) {
        $chain = [...$chain, ...chain(thrown_by(fn () => busy(20)))];
    }
    sort($chain);
    same([LeaseLostException::class . ": The lock \"$lease->resource\" was lost while it was held", 'DomainException: of the handler'], $chain,
        "$name: a handler that throws");
    $quiet('a handler that throws');
    pcntl_signal(SIGUSR1, SIG_DFL);
    pcntl_signal(SIGUSR2, SIG_DFL);
}
echo "done\n";
?>
--EXPECT--
done
