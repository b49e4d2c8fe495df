<?php
declare(strict_types=1);

namespace Dlock\OpenTelemetry;

use Dlock\AcquireTimeoutException;
use Dlock\Inspection;
use Dlock\Lease;
use Dlock\LockManager;
use OpenTelemetry\API\Globals;
use OpenTelemetry\API\Trace\SpanInterface;
use OpenTelemetry\API\Trace\SpanKind;
use OpenTelemetry\API\Trace\StatusCode;
use OpenTelemetry\API\Trace\TracerInterface;

/**
 * Traces the locks of another LockManager: a span "lock wait" for each wait, "lock hold" for each critical section of
 * synchronized(). A timeout is an outcome, not an error. How long a lease of acquire() or tryAcquire() is held is not
 * traced, because the caller receives the other LockManager's Lease.
 */
final class TracedLocks implements LockManager
{
    private readonly TracerInterface $tracer;

    public function __construct(private readonly LockManager $locks, ?TracerInterface $tracer = null)
    {
        $this->tracer = $tracer ?? Globals::tracerProvider()->getTracer('dlock', phpversion('dlock') ?: null);
    }

    public function inner(): LockManager
    {
        return $this->locks;
    }

    #[\NoDiscard]
    public function acquire(string|array $resource, ?float $timeout = null, ?float $ttl = null): Lease
    {
        return $this->wait($resource, fn () => $this->locks->acquire($resource, $timeout, $ttl));
    }

    #[\NoDiscard]
    public function tryAcquire(string|array $resource, float $timeout = 0.0, ?float $ttl = null): ?Lease
    {
        return $this->wait($resource, fn () => $this->locks->tryAcquire($resource, $timeout, $ttl));
    }

    public function synchronized(string|array $resource, callable $criticalSection, ?float $timeout = null, ?float $ttl = null): mixed
    {
        $wait = $this->begin('lock wait', SpanKind::KIND_CLIENT, $resource);
        $section = function (Lease $lease) use ($resource, $criticalSection, &$wait) {
            self::end($wait, $lease);
            $wait = null;
            $hold = $this->begin('lock hold', SpanKind::KIND_INTERNAL, $resource);
            $hold->setAttribute('dlock.fencing_token', $lease->fencingToken);
            $scope = $hold->activate();
            try {
                return $criticalSection($lease);
            } catch (\Throwable $e) {
                $hold->recordException($e)->setStatus(StatusCode::STATUS_ERROR, $e::class);
                throw $e;
            } finally {
                $scope->detach();
                $hold->end();
            }
        };
        try {
            return $this->locks->synchronized($resource, $section, $timeout, $ttl);
        } catch (\Throwable $e) {
            $wait && self::fail($wait, $e);
            throw $e;
        }
    }

    #[\NoDiscard]
    public function attach(#[\SensitiveParameter] string $handle): Lease
    {
        return $this->locks->attach($handle);
    }

    public function isLocked(string $resource): bool
    {
        return $this->locks->isLocked($resource);
    }

    public function inspect(string $resource, int $waiters = 100): Inspection
    {
        return $this->locks->inspect($resource, $waiters);
    }

    public function inspectAll(int $limit = 100): array
    {
        return $this->locks->inspectAll($limit);
    }

    private function wait(string|array $resource, callable $attempt): ?Lease
    {
        $span = $this->begin('lock wait', SpanKind::KIND_CLIENT, $resource);
        try {
            $lease = $attempt();
        } catch (\Throwable $e) {
            self::fail($span, $e);
            throw $e;
        }
        self::end($span, $lease);
        return $lease;
    }

    private function begin(string $name, int $kind, string|array $resource): SpanInterface
    {
        return $this->tracer->spanBuilder($name)->setSpanKind($kind)->setAttribute('dlock.resource', $resource)->startSpan();
    }

    private static function end(SpanInterface $span, ?Lease $lease): void
    {
        $span->setAttribute('dlock.outcome', $lease ? 'acquired' : 'timeout');
        if ($lease) {
            $span->setAttribute('dlock.fencing_token', $lease->fencingToken);
        }
        $span->end();
    }

    private static function fail(SpanInterface $span, \Throwable $e): void
    {
        if ($e instanceof AcquireTimeoutException) {
            self::end($span, null);
            return;
        }
        $span->setAttribute('dlock.outcome', 'error');
        $span->recordException($e)->setStatus(StatusCode::STATUS_ERROR, $e::class);
        $span->end();
    }
}
