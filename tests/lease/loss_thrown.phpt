--TEST--
onLoss: "throw": a loss is thrown once into running PHP code; without opcache, with it, and with its JIT
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/lease.inc';

$beginning = <<<'CODE'
use Dlock\Lease;
use Dlock\LeaseLostException;
use Dlock\LeaseState;

$manager = $locks->manager(ttl: 0.6, onLoss: 'throw');
$number = 0;
$lease = null;
/** A machine that stands still may take a whole lease time for it. */
$patiently = function ($manager, ?float $ttl = null) use ($resource, &$number): Lease {
    for ($tries = 0;; $tries++) {
        try {
            return $manager->acquire($resource . '-' . ++$number, 20, $ttl);
        } catch (Dlock\ConnectionException $e) { // answers that come too late for so short a lease
            $tries < 20 || throw $e;
        }
    }
};
$take = function () use ($patiently, $manager, &$lease): Lease {
    return $lease = $patiently($manager);
};
/** The exception must be for the last lease that was taken. */
$is_for = function (?Throwable $e, string $what, string $text = 'was lost while it was held') use (&$lease) {
    same([LeaseLostException::class, "The lock \"$lease->resource\" $text"], [get_debug_type($e), $e?->getMessage()], $what);
    same([LeaseState::Lost, false], [$lease->state(), $lease->isHeld()], "$what: the lease");
};
/** $lose() takes a lease, and loses it while $do() runs, which must be told, and does not end otherwise. */
$loses = function (string $what, callable $lose, callable $do) use ($is_for): ?Throwable {
    for ($attempt = 0, $begun = false; $attempt < 20 && !$begun; $attempt++) { // a slow machine may be told before $do() has begun, or by $lose()
        $e = thrown_by(function () use ($lose, $do, &$begun) {
            $lose();
            $begun = true;
            $do();
        });
    }
    $is_for($e, $what);
    return $e;
};
/** Another holder steals a new lease. */
$into = fn (string $what, callable $do): ?Throwable => $loses($what, fn () => take_away($locks, $take()->resource), $do);
/** Nothing must be thrown, for more than two renewals' time. */
$quiet = function (string $what) {
    $e = thrown_by(fn () => busy(0.4));
    $e === null || print("$what: thrown again: {$e->getMessage()}\n");
};

function idle(): never
{
    while (true) {
        nap(0.001);
    }
}
function endless(int $depth = 0): void
{
    if ($depth < 5) {
        endless($depth + 1);
    }
    while (true);
}
function endless_sum(): int
{
    $sum = 0;
    for ($i = 0; ; $i++) {
        $sum += $i & 3;
    }
    return $sum;
}
function endless_generator(): Generator
{
    for ($i = 0; ; $i++) {
        yield $i;
    }
}
function factorial(int $n): int
{
    return $n < 2 ? 1 : $n * factorial($n - 1);
}

CODE;

// PHP's engine treats a loss in the same way for all kinds of locks.
$engine = <<<'CODE'
// ---- loops and functions ----
$e = null;
try {
    $take();
    take_away($locks, $lease->resource);
    while (true);
} catch (LeaseLostException $e) {
}
$is_for($e, 'while (true)');
$quiet('while (true)');
same(false, $lease->release(), 'while (true): release()');
$quiet('while (true): after release()');
$into('a sum', endless_sum(...));
$into('functions', endless(...));
$into('do while', function () {
    do {
    } while (true);
});
$into('goto', function () {
    again:
    goto again;
});
$into('calls', function () {
    while (true) {
        factorial(10);
    }
});
$into('internal functions', function () {
    while (true) {
        strlen(str_repeat('x', 10)) + count([1]);
    }
});

echo "part\n"; // tells run-tests.php that the test is alive
// ---- callbacks of internal functions, generators, fibers ----
$into('array_map()', fn () => array_map(function () {
    while (true);
}, [1, 2]));
$into('array_map() with an internal function', function () {
    while (true) {
        array_map('strlen', ['a', 'bc']);
    }
});
$calls = 0;
$into('usort()', function () use (&$calls) {
    while (true) {
        $list = [3, 1, 2, 5, 4];
        usort($list, function ($a, $b) use (&$calls) {
            $calls++;
            return $a <=> $b;
        });
    }
});
holds($calls > 0, 'usort() has called');
$into('a long usort()', function () {
    $list = [2, 1];
    usort($list, function ($a, $b) {
        while (true);
    });
});
$into('a loop over a generator', function () {
    foreach (endless_generator() as $i);
});
$into('a generator', function () {
    $generator = (function () {
        yield 1;
        while (true);
    })();
    try {
        foreach ($generator as $i);
    } finally {
        same(false, $generator->valid(), 'the generator is over');
    }
});
$into('a fiber', function () {
    $fiber = new Fiber(function () {
        Fiber::suspend();
        while (true);
    });
    $fiber->start();
    try {
        $fiber->resume();
    } finally {
        same(true, $fiber->isTerminated(), 'the fiber is over');
    }
});
$fiber = new Fiber(function () use ($into) {
    $into('caught inside of a fiber', endless(...));
    return Fiber::suspend('suspended');
});
same('suspended', $fiber->start(), 'the fiber goes on');
$fiber->resume('returned');
same('returned', $fiber->getReturn(), 'and returns');

// ---- finally, destructors ----
$order = [];
$into('through finally blocks', function () use (&$order) {
    try {
        try {
            while (true);
        } finally {
            $order[] = 'inner';
        }
    } finally {
        $order[] = 'outer';
    }
});
same(['inner', 'outer'], $order, 'finally blocks');
$e = $into('into a finally block', function () {
    try {
        throw new LogicException('of the block');
    } finally {
        while (true);
    }
});
same('of the block', $e?->getPrevious()?->getMessage(), 'the exception that was on its way is the previous');
$into('a destructor', function () {
    $object = new class {
        public function __destruct()
        {
            while (true);
        }
    };
    unset($object);
});
$into('after a call that blocks', function () {
    block();
    while (true);
});

echo "part\n"; // tells run-tests.php that the test is alive
CODE;

$end = <<<'CODE'
// ---- two at a time ----
$two = function (callable $do) use ($locks, $take): void {
    for ($attempt = 0, $begun = false; $attempt < 20 && !$begun; $attempt++) { // the first may be told before the second is gone
        $caught = [];
        $one = $other = null;
        try { // whatever runs before both are told, since the second may come anywhere
            try {
                try {
                    [$one, $other] = [$take(), $take()];
                    take_away($locks, $one->resource);
                    take_away($locks, $other->resource);
                    $begun = true;
                } finally { // what this attempt leaves behind must not be told in the next
                    if (!$begun) {
                        $one?->release();
                        $other?->release();
                    }
                }
                $do();
            } catch (LeaseLostException $e) {
                $caught[] = $e;
            }
            if ($begun && !$caught[0]->getPrevious()) {
                busy(20);
            }
        } catch (LeaseLostException $e) {
            $caught[] = $e;
        }
    }
    $messages = [];
    foreach ($caught as $e) {
        for (; $e; $e = $e->getPrevious()) {
            $messages[] = $e->getMessage();
        }
    }
    $expected = array_map(fn (Lease $lease) => "The lock \"$lease->resource\" was lost while it was held", [$one, $other]);
    sort($messages);
    sort($expected);
    same($expected, $messages, 'two at once');
};
$two(idle(...));
$quiet('two');
$two(function () {
    block();
    while (true);
});
$quiet('two, after a call that blocks');
$two(function () {
    try {
        block();
        while (true);
    } finally {
        busy(0.5); // the second comes here
    }
});
$quiet('two, one of them into a finally block');

// ---- told otherwise before ----
foreach (['release' => false, 'refresh' => LeaseLostException::class] as $method => $result) {
    for ($told = false, $attempt = 0; !$told && $attempt < 20; $attempt++) { // a slow machine may be told by the renewal
        $take();
        $e = thrown_by(function () use ($locks, $lease, $method, &$got) {
            take_away($locks, $lease->resource);
            $got = $lease->$method();
        });
        $told = !str_contains((string) $e?->getMessage(), 'while it was held');
    }
    same([true, $result], [$told, $e ? $e::class : $got], "$method() before it is thrown");
    $quiet("$method() before it is thrown");
}
for ($told = false, $attempt = 0; !$told && $attempt < 20; $attempt++) {
    $take();
    $told = thrown_by(function () use ($locks, &$lease) {
        take_away($locks, $lease->resource);
        unset($lease); // of this function
        $GLOBALS['lease'] = null;
    }) === null;
}
same(true, $told, 'dropped before it is thrown');
$quiet('dropped before it is thrown');
$take();
same(true, $lease->release(), 'release()');
take_away($locks, $lease->resource);
$quiet('a loss after the release');

echo "part\n"; // tells run-tests.php that the test is alive
// ---- a ttl: thrown at the deadline ----
/** Takes a lease, and says so, for so long. */
$take_for = function (float $ttl) use ($patiently, $manager, &$lease, &$start): Lease {
    $start = now();
    return $lease = $patiently($manager, $ttl);
};
foreach ([false, true] as $renewed_as_well) {
    $renewed = $renewed_as_well ? $locks->manager(ttl: 60, onLoss: 'throw')->acquire("$resource-kept", 60) : null;
    $loses('a ttl', fn () => $take_for(0.5), idle(...));
    within(0.4, now() - $start, SOON, 'a ttl: seconds until it is thrown');
    same(true, $renewed?->release() ?? true, 'the other lease');
}
$loses('a ttl that was made shorter', fn () => $take_for(100)->refresh(0.5), idle(...));
within(0.4, now() - $start, SOON, 'a ttl that was made shorter: seconds until it is thrown');
$loses('a ttl that was made longer', fn () => $take_for(1)->refresh(1.5), idle(...));
within(1.3, now() - $start, SOON, 'a ttl that was made longer: seconds until it is thrown');
for ($released = false, $attempt = 0; !$released && $attempt < 20; $attempt++) { // a slow machine may be told before
    thrown_by(function () use ($take_for, &$released) {
        $released = $take_for(0.3)->release();
    });
}
same(true, $released, 'a ttl, released');
$quiet('a ttl, released');

// ---- lock(), attach(), max_hold ----
if ($locks->name === 'DistributedLock') {
    // Where an answer takes longer than the lease lasts, lock() has nothing to lose, and says false.
    for ($attempt = 0, $locked = false; $attempt < 20 && !$locked; $attempt++) {
        $name = $resource . '-' . ++$number;
        $e = thrown_by(function () use ($locks, $manager, $name, &$locked) {
            if ($locked = $manager->lock($name, 0)) {
                take_away($locks, $name);
                idle();
            }
        });
    }
    same([LeaseLostException::class, "The lock \"$name\" was lost while it was held"], [get_debug_type($e), $e?->getMessage()], 'lock()');
    same(false, $manager->release($name), 'lock(): release()');
}
$loses('attach()', function () use ($locks, $manager, $take, &$lease) {
    $lease = $manager->attach($take()->detach());
    take_away($locks, $lease->resource);
}, idle(...));
ini_set('dlock.max_hold', '0.5');
$loses('dlock.max_hold', $take, idle(...));
ini_set('dlock.max_hold', '0');

// ---- not where it is not asked for ----
$lease = $patiently($locks->manager(ttl: 0.6));
take_away($locks, $lease->resource);
same(null, thrown_by(function () use (&$lease) {
    busy_until(fn () => !$lease->isHeld(), 60);
}), 'onLoss: "flag"');
$quiet('onLoss: "flag"');

// ---- a wait for another lock is left, and nothing of it remains ----
$theirs = fork_child(function (callable $say, callable $hear) use ($locks, $resource) {
    $lease = $locks->manager()->acquire("$resource-waited", 0, 100);
    $say(null);
    $hear();
    return $lease->release();
});
$theirs->hear();
$into('a wait for another lock', fn () => $locks->manager()->acquire("$resource-waited", 30));
$locks->waitUntilQueuesGone("$resource-waited");
$theirs->say(null);
same(true, $theirs->result(), 'the one that was waited for');

echo 'JIT: ', json_encode(function_exists('opcache_get_status') ? (opcache_get_status(false) ?: [])['jit']['on'] ?? null : null), "\n";
CODE;

$opcache = (extension_loaded('Zend OPcache') ? '' : '-d zend_extension=opcache') . ' -d opcache.enable=1 -d opcache.enable_cli=1 -d opcache.file_update_protection=0';
$settings = [
    'no opcache' => ['-d opcache.enable_cli=0', 'null'],
    'JIT, tracing' => ["$opcache -d opcache.jit_buffer_size=16M -d opcache.jit=tracing", 'true'],
];
$all = amount('DLOCK_ALL_ENGINES', 0) > 0; // scripts/test-all.sh does that
if ($all) {
    $settings['opcache'] = ["$opcache -d opcache.jit_buffer_size=0 -d opcache.jit=disable", 'false'];
    $settings['JIT, functions'] = ["$opcache -d opcache.jit_buffer_size=16M -d opcache.jit=function", 'true'];
}
foreach ($settings as $setting => [$options, $jit]) {
    $children = [];
    foreach ($setting === 'no opcache' || $all ? renewed_locks_and_pools() : array_slice(renewed_locks_and_pools(), 0, 1) as $name => $kind) {
        $code = implode("\n", $children === [] || $all ? [$beginning, $engine, $end] : [$beginning, $end]);
        $children["$name, $setting"] = lease_child($code, $kind, unique("$name-$setting"), [], $options);
    }
    foreach ($children as $name => $child) {
        for ($output = ''; ($line = $child->readLine(120)) !== null; $output .= "$line\n") {
            if ($line === 'part' && $child === reset($children)) {
                echo "$setting, part\n";
            }
        }
        same(($child === reset($children) || $all ? "part\npart\n" : '') . "part\nJIT: $jit\n", $output, $name);
        same(0, $child->wait(), "$name: exit code");
    }
    echo "$setting\n";
}
echo "done\n";
?>
--EXPECTF--
no opcache, part
no opcache, part
no opcache, part
no opcache
JIT, tracing, part
JIT, tracing, part
JIT, tracing, part
JIT, tracing
%Adone
