--TEST--
dlock warns of a lease that its statement tests and drops, in every form, and never of one that is kept, passed or asked
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--INI--
zend.assertions=1
--FILE--
<?php
declare(strict_types=1);

namespace App;

require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

use Dlock\Lease;

final class Keeper
{
    public mixed $lease = null;
    public static mixed $shared = null;
}

final class Service
{
    public function __construct(private \Dlock\LockManager $locks) {}
    public function tryTake(string $name): ?Lease { return $this->locks->tryAcquire($name); }
    public function take(string $name): Lease { try { return $this->locks->acquire($name); } finally { strlen($name); } }
    public function __call(string $name, array $arguments): mixed { return $this->locks->tryAcquire(...$arguments); }
}

function keep(mixed ...$all): mixed { return Keeper::$shared = $all; }
function looks(?Lease $lease): bool { return $lease !== null; }
function generate(\Dlock\LockManager $m): \Generator { yield $m->tryAcquire('x'); return $m->tryAcquire('y'); }

$warnings = [];
set_error_handler(function (int $level, string $text) use (&$warnings): bool {
    $warnings[] = [$level, $text];
    return true;
});

$one = new \DistributedLock('memory://');
$service = new Service($one);
$no = false;
$dropped = [
    'a bare call' => function ($m) { $m->acquire('x'); },
    'a bare try' => function ($m) { $m->tryAcquire('x', timeout: 0.0, ttl: 10.0); },
    'silenced' => function ($m) { @$m->tryAcquire('x'); },
    '!' => function ($m) { if (!$m->tryAcquire('x')) exit; },
    'if' => function ($m) { if ($m->tryAcquire('x')) { return 1; } return 2; },
    'if, else' => function ($m) { if (!$m->tryAcquire('x')) { return 1; } else { return 2; } },
    'unless, silenced' => function ($m) { if (!@$m->tryAcquire('x')) exit; },
    '?? exit' => function ($m) { $m->tryAcquire('x') ?? exit; },
    '?? throw' => function ($m) { $m->tryAcquire('x') ?? throw new \Exception(); },
    '?: exit' => function ($m) { $m->tryAcquire('x') ?: exit; },
    'or exit' => function ($m) { $m->tryAcquire('x') or exit; },
    '|| exit' => function ($m) { $m->tryAcquire('x') || exit; },
    '=== null' => function ($m) { if ($m->tryAcquire('x') === null) exit; },
    '!== null' => function ($m) { if ($m->tryAcquire('x') !== null) { return 1; } },
    'null !==' => function ($m) { if (null !== $m->tryAcquire('x')) { return 1; } },
    '== null' => function ($m) { if ($m->tryAcquire('x') == null) exit; },
    '!= false' => function ($m) { return $m->tryAcquire('x') != false; },
    '(bool)' => function ($m) { $got = (bool) $m->tryAcquire('x'); return $got; },
    '!!' => function ($m) { return !!$m->tryAcquire('x'); },
    'boolval()' => function ($m) { return boolval($m->tryAcquire('x')); },
    'is_null()' => function ($m) { return is_null($m->tryAcquire('x')); },
    '\is_null()' => function ($m) { return \is_null($m->tryAcquire('x')); },
    'is_object()' => function ($m) { return is_object($m->tryAcquire('x')); },
    'empty()' => function ($m) { return empty($m->tryAcquire('x')); },
    'assert()' => function ($m) { assert($m->tryAcquire('x')); },
    '\assert(!== null)' => function ($m) { \assert($m->tryAcquire('x') !== null, 'locked'); },
    'assert(instanceof)' => function ($m) { assert($m->tryAcquire('x') instanceof Lease); },
    'instanceof' => function ($m) { return $m->tryAcquire('x') instanceof Lease; },
    '$l = … &&' => function ($m) { $l = $m->tryAcquire('x') && time(); return $l; },
    '$l = … || ' => function ($m) { $l = $m->tryAcquire('x') || time(); return $l; },
    'if ($l = … &&)' => function ($m) { if ($l = $m->tryAcquire('x') && time()) { return $l; } },
    'if ($l = … !== null)' => function ($m) { if ($l = $m->tryAcquire('x') !== null) { return $l; } },
    '&& …' => function ($m) { return time() && $m->tryAcquire('x'); },
    'xor' => function ($m) { return $m->tryAcquire('x') xor false; },
    '?:' => function ($m) { return $m->tryAcquire('x') ? 1 : 2; },
    'a chosen one' => function ($m) use (&$no) { if (!($no ? $m->tryAcquire('y') : $m->tryAcquire('x'))) exit; },
    'while' => function ($m) { while (!$m->tryAcquire('x')) { pause(0.1); } },
    'on lines' => function ($m) {
        if (
            !$m->tryAcquire(
                'x',
                timeout: 0.0,
            )
        ) {
            exit;
        }
    },
    'from a method' => function () use ($service) { if (!$service->tryTake('x')) exit; },
    'from __call' => function () use ($service) { if (!$service->anything('x')) exit; },
    'from a closure' => function ($m) { $take = fn (string $name): ?Lease => $m->tryAcquire($name); if (!$take('x')) exit; },
    'by a callable' => function ($m) { $take = $m->tryAcquire(...); if (!$take('x')) exit; },
    'by name' => function ($m) { $name = 'tryAcquire'; if (!$m->$name('x')) exit; },
    'by an array' => function ($m) { if (![$m, 'tryAcquire']('x')) exit; },
    'call_user_func()' => function ($m) { if (!\call_user_func([$m, 'tryAcquire'], 'x')) exit; },
    'attach()' => function ($m) { $handle = $m->acquire('x')->detach(); $m->attach($handle); },
];
$method = ['a bare call' => 'acquire', 'attach()' => 'attach'];
foreach ($dropped as $name => $do) {
    $warnings = [];
    $do($one);
    same(false, $one->isLocked('x'), "$name: nobody holds it");
    $by = $method[$name] ?? 'tryAcquire';
    same([[E_WARNING, "DistributedLock::$by(): The lock \"x\" is released at once, because nothing keeps its Lease: assign it to a variable, as in \$lease = ..."]],
        $warnings, $name);
}

$kept = [
    'assigned' => function ($m) { $lease = $m->acquire('x'); return 1; },
    'assigned, and over on the same line' => function ($m) { $lease = $m->acquire('x'); $lease = null; $lease = $m->acquire('x'); unset($lease); },
    'assigned in a test' => function ($m) { if (!($lease = $m->tryAcquire('x'))) exit; if (($other = $m->tryAcquire('y')) !== null && $other) { return 1; } },
    'assigned, ?? exit' => function ($m) { $lease = $m->tryAcquire('x') ?? exit; },
    'assigned, ?: exit' => function ($m) { $lease = $m->tryAcquire('x') ?: exit; },
    'assigned, or exit' => function ($m) { ($lease = $m->tryAcquire('x')) or exit; },
    'assigned, chosen' => function ($m) use (&$no) { $lease = $no ? $m->tryAcquire('y') : $m->tryAcquire('x'); },
    'assigned, match' => function ($m) { $lease = match (true) { default => $m->tryAcquire('x') }; },
    'assigned by ??=' => function ($m) { $lease = null; $lease ??= $m->tryAcquire('x'); },
    'assigned to $GLOBALS' => function ($m) { $GLOBALS['kept'] = $m->tryAcquire('x'); unset($GLOBALS['kept']); },
    'assigned by list' => function ($m) { [$a, $b] = [$m->tryAcquire('x'), $m->tryAcquire('y')]; },
    'stored' => function ($m) { $keeper = new Keeper(); $keeper->lease = $m->acquire('x'); Keeper::$shared = $m->acquire('y'); Keeper::$shared = null; },
    'in an array' => function ($m) { $all[] = $m->acquire('x'); $all['y'] = $m->acquire('y'); $more = [$m->acquire('z')]; },
    'passed' => function ($m) { keep($m->acquire('x')); keep($m->tryAcquire('y'), $m->tryAcquire('z')); keep(...[$m->tryAcquire('u')]); Keeper::$shared = null; },
    'passed, in a test' => function ($m) { if (!looks($m->tryAcquire('x'))) exit; assert(looks($m->tryAcquire('x'))); },
    'passed to a constructor' => function ($m) { $all = new \ArrayObject([$m->acquire('x')]); $all->append($m->acquire('y')); \array_push($GLOBALS['all'], $m->acquire('z')); $GLOBALS['all'] = []; },
    'spread' => function ($m) { $all = [...[$m->acquire('x')]]; },
    'returned' => fn ($m) => $m->acquire('x'),
    'returned, and kept' => function () use ($service) { $lease = $service->tryTake('x'); if (!($other = $service->tryTake('y'))) exit; return $service->take('z'); },
    'returned through finally' => function () use ($service) { $lease = $service->take('x'); },
    'returned from a test' => fn ($m) => $m->tryAcquire('x') ?? throw new \Exception(),
    'captured' => function ($m) { $lease = $m->acquire('x'); $later = fn () => $lease; unset($lease); return $later; },
    'a static variable' => function ($m) { static $lease; $lease = $m->acquire('x'); $lease = null; },
    'yielded' => function ($m) { foreach (generate($m) as $lease) { $lease->isHeld() || exit('yielded'); } },
    'asked' => function ($m) { return $m->acquire('x')->token . $m->acquire('x')->isHeld() . $m->tryAcquire('x')?->fencingToken; },
    'asked and tested' => function ($m) { if (!$m->acquire('x')->isHeld()) exit; },
    'released' => function ($m) { $m->acquire('x')->release(); $m->tryAcquire('x')?->release(); },
    'compared' => fn ($m) => $m->tryAcquire('x') === Keeper::$shared,
    'cloned by an array function' => function ($m) { return \array_map($m->tryAcquire(...), ['x', 'y']); },
    'sections' => function ($m) { $m->synchronized('x', fn () => 1); return $m->synchronized('x', fn (Lease $lease) => $lease); },
    'not acquired' => function ($m) { $lease = $m->acquire('x'); if ($m->tryAcquire('x')) exit; $m->tryAcquire('x'); },
    'in a string of code' => function ($m) { return eval('$lease = $m->tryAcquire("x"); return $lease;'); },
];
if (PHP_VERSION_ID >= 80500) {
    $kept['(void)'] = eval('return function ($m) { (void) $m->acquire("x"); };');
}
$all = [];
foreach ($kept as $name => $do) {
    $warnings = [];
    $kept_here = $do($one);
    same([], $warnings, $name);
    unset($kept_here);
}

// If the handler throws, the caller gets the exception, and the lock is free.
restore_error_handler();
set_error_handler(fn (int $level, string $text) => throw new \ErrorException($text));
$exception = thrown_by(function () use ($one) { if (!$one->tryAcquire('x')) exit; });
same([\ErrorException::class, false], [$exception ? $exception::class : null, $one->isLocked('x')], 'a handler that throws');

// On servers as in memory, and for other classes.
restore_error_handler();
$warnings = [];
set_error_handler(function (int $level, string $text) use (&$warnings): bool { $warnings[] = \strtok($text, ':'); return true; });
$name = unique('unkept');
$redis = new \DistributedLock(redis_server());
$red = new \RedLock(redis_servers(3));
$side = (new \Dlock\ReadWriteLock(redis_server()))->readLock();
if (!$redis->tryAcquire($name)) exit;
if (!$red->tryAcquire($name)) exit;
if (!$side->tryAcquire($name)) exit;
same(['DistributedLock', 'RedLock', 'Dlock\ReadWriteLockSide'], $warnings, 'other classes');
echo "done\n";
?>
--EXPECT--
done
