--TEST--
The API is what the contract says: each class, method, parameter, type, default, attribute, constant and case
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

// "!" before a parameter: backtraces do not show it.
const LOCK_MANAGER = [
    'acquire' => '(array|string $resource, ?float $timeout = null, ?float $ttl = null): Dlock\Lease',
    'tryAcquire' => '(array|string $resource, float $timeout = 0.0, ?float $ttl = null): ?Dlock\Lease',
    'synchronized' => '(array|string $resource, callable $criticalSection, ?float $timeout = null, ?float $ttl = null): mixed',
    'attach' => '(!string $handle): Dlock\Lease',
    'isLocked' => '(string $resource): bool',
    'inspect' => '(string $resource, int $waiters = 100): Dlock\Inspection',
    'inspectAll' => '(int $limit = 100): array',
];
const CONTRACT = [
    'DistributedLock' => ['class implements Dlock\LockManager', LOCK_MANAGER + [
        '__construct' => '(!array|string|null $server = null, string $prefix = \'Lock:\', ?float $ttl = null, ?float $timeout = null,'
            . ' ?bool $renew = null, string $onLoss = \'flag\', ?bool $releaseOnShutdown = null, bool $legacy = false, bool $reentrant = false)',
        'lock' => '(string $key, int|float|null $timeout = null, int|float|null $expire = null): bool',
        'release' => '(string $key): bool',
        'unlock' => '(string $key): bool',
        'unlockAll' => '(): bool',
        'expire' => '(string $key, int|float $expire): bool',
        'isLocking' => '(string $key): bool',
    ]],
    'RedLock' => ['class implements Dlock\LockManager', LOCK_MANAGER + [
        '__construct' => '(!array $servers, int $retryDelay = 200, int $retryCount = 3, string $prefix = \'\', ?float $ttl = null,'
            . ' ?float $timeout = null, ?bool $renew = null, string $onLoss = \'flag\', ?bool $releaseOnShutdown = null, bool $reentrant = false)',
        'lock' => '(string $resource, int $ttl = 10000): array|false',
        'unlock' => '(!array $lock): bool',
    ]],
    'ZkLock' => ['class implements Dlock\LockManager', LOCK_MANAGER + [
        '__construct' => '(!array|string $servers = \'127.0.0.1:2181\', string $root = \'/locks\', float $sessionTimeout = 10.0,'
            . ' !?string $auth = null, ?float $timeout = null, string $onLoss = \'flag\', ?bool $releaseOnShutdown = null, bool $reentrant = false)',
        'lock' => '(string $resource, int|float|null $timeout = null): bool',
        'release' => '(string $resource): bool',
        'unlock' => '(string $resource): bool',
    ]],
    'Dlock\Semaphore' => ['final class implements Dlock\SemaphoreInterface', [
        '__construct' => '(int $capacity, !array|string|null $server = null, string $prefix = \'Semaphore:\', ?float $ttl = null,'
            . ' ?float $timeout = null, ?bool $renew = null, string $onLoss = \'flag\', ?bool $releaseOnShutdown = null)',
        'acquire' => '(string $resource, int $permits = 1, ?float $timeout = null, ?float $ttl = null): Dlock\Lease',
        'tryAcquire' => '(string $resource, int $permits = 1, float $timeout = 0.0, ?float $ttl = null): ?Dlock\Lease',
        'synchronized' => '(string $resource, callable $criticalSection, int $permits = 1, ?float $timeout = null, ?float $ttl = null): mixed',
        'attach' => '(!string $handle): Dlock\Lease',
        'availablePermits' => '(string $resource): int',
        'inspect' => '(string $resource, int $waiters = 100): Dlock\Inspection',
        'inspectAll' => '(int $limit = 100): array',
    ]],
    'Dlock\SemaphoreInterface' => ['interface', [
        'acquire' => '(string $resource, int $permits = 1, ?float $timeout = null, ?float $ttl = null): Dlock\Lease',
        'tryAcquire' => '(string $resource, int $permits = 1, float $timeout = 0.0, ?float $ttl = null): ?Dlock\Lease',
        'synchronized' => '(string $resource, callable $criticalSection, int $permits = 1, ?float $timeout = null, ?float $ttl = null): mixed',
        'attach' => '(!string $handle): Dlock\Lease',
        'availablePermits' => '(string $resource): int',
        'inspect' => '(string $resource, int $waiters = 100): Dlock\Inspection',
        'inspectAll' => '(int $limit = 100): array',
    ]],
    'Dlock\ReadWriteLock' => ['final class implements Dlock\ReadWriteLockInterface', [
        '__construct' => '(!array|string|null $server = null, string $prefix = \'ReadWriteLock:\', ?float $ttl = null,'
            . ' ?float $timeout = null, ?bool $renew = null, string $onLoss = \'flag\', ?bool $releaseOnShutdown = null,'
            . ' string $fairness = \'phase\')',
        'readLock' => '(): Dlock\LockManager',
        'writeLock' => '(): Dlock\LockManager',
    ]],
    'Dlock\ReadWriteLockInterface' => ['interface', [
        'readLock' => '(): Dlock\LockManager',
        'writeLock' => '(): Dlock\LockManager',
    ]],
    'Dlock\ReadWriteLockSide' => ['final class implements Dlock\LockManager', LOCK_MANAGER],
    'Dlock\LockManager' => ['interface', LOCK_MANAGER],
    'Dlock\LeaseState' => ['enum', ['cases' => '(): array']],
    'Dlock\Lease' => ['final class', [
        'state' => '(): Dlock\LeaseState',
        'isHeld' => '(): bool',
        'remaining' => '(): float',
        'assertHeld' => '(): void',
        'refresh' => '(?float $ttl = null): void',
        'release' => '(): bool',
        'detach' => '(): string',
        'upgrade' => '(?float $timeout = null): void',
        'downgrade' => '(): void',
    ]],
    'Dlock\Inventory' => ['interface', [
        'restock' => '(string $sku, int $quantity, ?string $change = null): int',
        'reserve' => '(array|string $items, string $buyer, string $order, float $timeout = 0.0, ?float $ttl = null, bool $strict = false): ?Dlock\Reservation',
        'reservation' => '(array|string $items, string $buyer, string $order): Dlock\Reservation',
        'order' => '(array|string $items, string $buyer, string $order): ?Dlock\Order',
        'orders' => '(string $sku, ?string $buyer = null, ?Dlock\OrderState $state = null, float $since = 0.0, int $limit = 100, ?string $after = null): Dlock\OrderPage',
        'counts' => '(array|string $sku, bool $confirmed = false): array',
        'open' => '(string $sku): void',
        'close' => '(string $sku): void',
        'end' => '(string $sku): void',
    ]],
    'Dlock\Stock' => ['final class implements Dlock\Inventory', [
        '__construct' => '(!array|string|null $server = null, string $prefix = \'Stock:\', float $ttl = 600.0, ?int $perBuyer = null, string $fairness = \'fit\', float $remember = 86400.0)',
        'restock' => '(string $sku, int $quantity, ?string $change = null): int',
        'reserve' => '(array|string $items, string $buyer, string $order, float $timeout = 0.0, ?float $ttl = null, bool $strict = false): ?Dlock\Reservation',
        'reservation' => '(array|string $items, string $buyer, string $order): Dlock\Reservation',
        'order' => '(array|string $items, string $buyer, string $order): ?Dlock\Order',
        'orders' => '(string $sku, ?string $buyer = null, ?Dlock\OrderState $state = null, float $since = 0.0, int $limit = 100, ?string $after = null): Dlock\OrderPage',
        'counts' => '(array|string $sku, bool $confirmed = false): array',
        'open' => '(string $sku): void',
        'close' => '(string $sku): void',
        'end' => '(string $sku): void',
    ]],
    'Dlock\Testing' => ['final class', ['travel' => '(float $seconds): void']],
    'Dlock\Reservation' => ['final class', [
        'remaining' => '(): float',
        'status' => '(): ?Dlock\OrderState',
        'extend' => '(?float $ttl = null): void',
        'confirm' => '(): bool',
        'cancel' => '(): bool',
        'refund' => '(bool $restock = true, ?int $quantity = null, ?string $change = null): bool',
        'change' => '(array $items): void',
    ]],
    'Dlock\Inspection' => ['final class', []],
    'Dlock\Party' => ['final class', []],
    'Dlock\OrderState' => ['enum implements BackedEnum', [
        'cases' => '(): array',
        'from' => '(int|string $value): static',
        'tryFrom' => '(int|string $value): ?static',
    ]],
    'Dlock\Order' => ['final class', []],
    'Dlock\OrderPage' => ['final class implements IteratorAggregate, Traversable', ['getIterator' => '(): Iterator']],
    'Dlock\LimitExceededException' => ['class extends Dlock\DlockException', []],
    'Dlock\ReservationExpiredException' => ['class extends Dlock\DlockException', []],
    'Dlock\OrderConflictException' => ['class extends Dlock\DlockException', []],
    'Dlock\OutOfStockException' => ['class extends Dlock\DlockException', []],
    'Dlock\UnknownProductException' => ['class extends Dlock\DlockException', []],
    'Dlock\SaleEndedException' => ['class extends Dlock\DlockException', []],
    'Dlock\DlockException' => ['class extends Exception', []],
    'Dlock\AcquireTimeoutException' => ['class extends Dlock\DlockException', []],
    'Dlock\LeaseLostException' => ['class extends Dlock\DlockException', []],
    'Dlock\ConnectionException' => ['class extends Dlock\DlockException', []],
    'Dlock\QuorumException' => ['class extends Dlock\ConnectionException', ['getServerErrors' => '(): array']],
    'Dlock\DeadlockException' => ['class extends Dlock\DlockException', []],
];

function signature(ReflectionFunctionAbstract $function): string
{
    $parameters = array_map(function (ReflectionParameter $parameter) {
        $type = $parameter->getType();
        $types = $type instanceof ReflectionUnionType ? array_map('strval', $type->getTypes()) : [(string) $type];
        usort($types, fn ($a, $b) => [$a === 'null', $a === 'float', $a] <=> [$b === 'null', $b === 'float', $b]);
        $default = $parameter->isDefaultValueAvailable() ? ' = ' . str_replace('NULL', 'null', var_export($parameter->getDefaultValue(), true)) : '';
        return ($parameter->getAttributes(SensitiveParameter::class) ? '!' : '') . implode('|', $types)
            . " \${$parameter->getName()}$default";
    }, $function->getParameters());
    $return = $function->getReturnType();
    return '(' . implode(', ', $parameters) . ')' . ($return === null ? '' : ": $return");
}

function kind(ReflectionClass $class): string
{
    $parent = $class->getParentClass();
    $interfaces = array_diff($class->getInterfaceNames(), $parent ? $parent->getInterfaceNames() : [], ['UnitEnum']);
    return ($class->isFinal() && !$class->isEnum() ? 'final ' : '') . ($class->isInterface() ? 'interface' : ($class->isEnum() ? 'enum' : 'class'))
        . ($parent ? " extends {$parent->name}" : '') . ($interfaces ? ' implements ' . implode(', ', $interfaces) : '');
}

$classes = array_filter(CONTRACT, fn ($name) => $name !== 'ZkLock' || class_exists('ZkLock'), ARRAY_FILTER_USE_KEY);
foreach ($classes as $name => [$kind, $methods]) {
    $class = new ReflectionClass($name);
    same($name, $class->name, 'the name of a class');
    same($kind, kind($class), $name);
    foreach ($methods as $method => $signature) {
        if (PHP_VERSION_ID < 80200) {
            $signature = str_replace('!', '', $signature);
        }
        same($signature, $class->hasMethod($method) ? signature($class->getMethod($method)) : 'no such method', "$name::$method");
    }
    // The classes have nothing that the contract lacks.
    foreach ($class->getMethods(ReflectionMethod::IS_PUBLIC) as $method) {
        if ($method->getDeclaringClass()->name === $name) {
            holds(isset($methods[$method->name]), "$name::$method->name() is in the contract");
        }
    }
    foreach ($class->getProperties(ReflectionProperty::IS_PUBLIC) as $property) {
        holds(in_array($name, ['Dlock\Lease', 'Dlock\LeaseState', 'Dlock\Reservation', 'Dlock\OrderState', 'Dlock\Order', 'Dlock\OrderPage', 'Dlock\LimitExceededException',
            'Dlock\ReservationExpiredException', 'Dlock\Inspection', 'Dlock\Party'], true) && ($class->isEnum() || $property->isReadOnly()), "$name has no public property", $property->name);
    }
    same(['Dlock\LeaseState' => ['Held', 'Uncertain', 'Lost', 'Released'], 'Dlock\OrderState' => ['Reserved', 'Ended', 'Sold', 'Cancelled', 'Refunded']][$name] ?? [], array_keys($class->getConstants()), "$name: constants");
}

same(['Held', 'Uncertain', 'Lost', 'Released'], array_map(fn ($case) => $case->name, Dlock\LeaseState::cases()), 'the states');
$properties = array_map(
    fn (ReflectionProperty $property) => ($property->isReadOnly() ? 'readonly ' : '') . "{$property->getType()} {$property->name}",
    (new ReflectionClass(Dlock\Lease::class))->getProperties(),
);
same(['readonly string resource', 'readonly array resources', 'readonly string token', 'readonly int fencingToken', 'readonly int permits'], $properties, 'properties of Lease');
fails(Error::class, 'Call to private Dlock\Lease::__construct() from global scope', fn () => new Dlock\Lease());
fails(Error::class, 'Call to private Dlock\ReadWriteLockSide::__construct() from global scope', fn () => new Dlock\ReadWriteLockSide());

// The extension has these classes and functions, this constant, and no more.
$extension = new ReflectionExtension('dlock');
$names = array_keys($classes);
$actual = $extension->getClassNames();
sort($names);
sort($actual);
same($names, $actual, 'classes');
$functions = ['Dlock\setLabel' => '(?string $label): ?string', 'Dlock\metrics' => '(): string', 'Dlock\stats' => '(): array', 'Dlock\setWaiter' => '(?callable $waiter): ?callable',
    'Dlock\beginRequest' => '(): void', 'Dlock\endRequest' => '(): int'];
$internal = ['Dlock\describe_server' => '(!array|string $server): array',
    'Dlock\break_lock' => '(object $locks, string $resource, string $id, string $by, bool $now = false): ?float',
    'Dlock\list_all' => '(object $locks): array',
    'Dlock\describe_ensemble' => '(!array|string $servers): array']; // not in the contract
foreach (array_filter($functions + $internal, fn ($name) => $name !== 'Dlock\describe_ensemble' || class_exists('ZkLock'), ARRAY_FILTER_USE_KEY) as $name => $signature) {
    $there[] = strtolower($name);
    same(PHP_VERSION_ID < 80200 ? str_replace('!', '', $signature) : $signature, signature(new ReflectionFunction($name)), $name);
}
same($there, array_map('strtolower', array_keys($extension->getFunctions())), 'functions');
same(['Dlock\VERSION'], array_keys($extension->getConstants()), 'constants');
same($extension->getVersion(), Dlock\VERSION, 'Dlock\VERSION');
holds((bool) preg_match('/^\d+\.\d+\.\d+(-?\w+)?$/', Dlock\VERSION), 'the form of Dlock\VERSION', Dlock\VERSION);
$settings = array_keys($extension->getINIEntries());
foreach (['dlock.server', 'dlock.ttl', 'dlock.timeout', 'dlock.restart_guard', 'dlock.release_on_shutdown'] as $setting) {
    holds(in_array($setting, $settings, true), "there is a setting $setting");
}
echo "done\n";
?>
--EXPECT--
done
