--TEST--
OpenTelemetry has spans of waits, critical sections, timeouts and errors
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_integration('opentelemetry/TracedLocks.php');
?>
--FILE--
<?php
/* Debian has no package of open-telemetry/api. These are its declarations that dlock uses. */
namespace OpenTelemetry\API\Trace {
    interface SpanKind
    {
        public const KIND_INTERNAL = 0;
        public const KIND_CLIENT = 1;
    }
    interface StatusCode
    {
        public const STATUS_ERROR = 'Error';
    }
    interface SpanInterface
    {
        public function setAttribute(string $key, bool|int|float|string|array|null $value): SpanInterface;
        public function recordException(\Throwable $exception, iterable $attributes = []): SpanInterface;
        public function setStatus(string $code, ?string $description = null): SpanInterface;
        public function end(?int $endEpochNanos = null): void;
        public function activate(): \OpenTelemetry\Context\ScopeInterface;
    }
    interface SpanBuilderInterface
    {
        public function setAttribute(string $key, mixed $value): SpanBuilderInterface;
        public function setSpanKind(int $spanKind): SpanBuilderInterface;
        public function startSpan(): SpanInterface;
    }
    interface TracerInterface
    {
        public function spanBuilder(string $spanName): SpanBuilderInterface;
    }
}

namespace OpenTelemetry\Context {
    interface ScopeInterface
    {
        public function detach(): int;
    }
}

namespace OpenTelemetry\API {
    final class Globals
    {
        public static function tracerProvider(): object
        {
            return new class {
                public function getTracer(string $name, ?string $version = null): Trace\TracerInterface
                {
                    $GLOBALS['tracers'][] = [$name, $version];
                    return new \Recorder();
                }
            };
        }
    }
}

namespace {
    declare_test();

    use OpenTelemetry\API\Trace\{SpanBuilderInterface, SpanInterface, TracerInterface};
    use OpenTelemetry\Context\ScopeInterface;

    /** Notes each span at its end: name, kind, parent, attributes, error. */
    final class Recorder implements TracerInterface
    {
        public static array $spans = [];
        public static array $active = [];

        public function spanBuilder(string $spanName): SpanBuilderInterface
        {
            return new class($spanName) implements SpanBuilderInterface, SpanInterface, ScopeInterface {
                private array $span;
                public function __construct(string $name)
                {
                    $this->span = ['name' => $name, 'in' => end(Recorder::$active) ?: null];
                }
                public function setAttribute(string $key, mixed $value): static
                {
                    $this->span[$key] = $value;
                    return $this;
                }
                public function setSpanKind(int $spanKind): static
                {
                    $this->span['kind'] = $spanKind;
                    return $this;
                }
                public function startSpan(): SpanInterface
                {
                    return $this;
                }
                public function recordException(Throwable $exception, iterable $attributes = []): static
                {
                    $this->span['exception'] = $exception->getMessage();
                    return $this;
                }
                public function setStatus(string $code, ?string $description = null): static
                {
                    $this->span['status'] = "$code $description";
                    return $this;
                }
                public function end(?int $endEpochNanos = null): void
                {
                    Recorder::$spans[] = $this->span;
                }
                public function activate(): ScopeInterface
                {
                    Recorder::$active[] = $this->span['name'];
                    return $this;
                }
                public function detach(): int
                {
                    array_pop(Recorder::$active);
                    return 0;
                }
            };
        }
    }

    function declare_test(): void
    {
        require __DIR__ . '/../inc/integrations.inc';
        require integration('opentelemetry/TracedLocks.php');
    }

    /** The spans since the last time. */
    function spans(): array
    {
        $spans = Recorder::$spans;
        Recorder::$spans = [];
        return $spans;
    }

    $inner = new DistributedLock(redis_server());
    $locks = new Dlock\OpenTelemetry\TracedLocks($inner);
    same($inner, $locks->inner(), "inner()");
    same([['dlock', phpversion('dlock')]], $tracers, 'the tracer');
    $resource = unique();
    $wait = fn (int|array|string $of, string $outcome, array $more = []) => ['name' => 'lock wait', 'in' => null, 'kind' => 1, 'dlock.resource' => $of, 'dlock.outcome' => $outcome] + $more;

    $lease = $locks->acquire($resource, ttl: 60);
    same([$wait($resource, 'acquired', ['dlock.fencing_token' => $lease->fencingToken])], spans(), 'acquire()');
    $other = (new Dlock\OpenTelemetry\TracedLocks($inner, new Recorder()))->tryAcquire("$resource.other", ttl: 60);
    same([[$wait("$resource.other", 'acquired', ['dlock.fencing_token' => $other->fencingToken])], 1], [spans(), count($tracers)], 'tryAcquire(), a tracer of its own');
    $taken = fork_child(fn () => [$locks->tryAcquire($resource), get_class(thrown_by(fn () => $locks->acquire($resource, 0))),
        get_class(thrown_by(fn () => $locks->synchronized($resource, fn () => null, 0))), spans()])->result();
    same([null, Dlock\AcquireTimeoutException::class, Dlock\AcquireTimeoutException::class, array_fill(0, 3, $wait($resource, 'timeout'))], $taken, 'timeouts');
    same([true, 1, true], [$locks->isLocked($resource), count($locks->inspect($resource)->holders), is_array($locks->inspectAll())], 'looks');
    $lease = $locks->attach($lease->detach());
    same([], spans(), 'which are no spans');
    $lease->release();

    $token = 0;
    same('result', $locks->synchronized($resource, function (Dlock\Lease $lease) use (&$token) {
        $token = $lease->fencingToken;
        same(['lock hold'], Recorder::$active, 'active inside');
        return 'result';
    }, ttl: 60), 'synchronized()');
    $hold = ['name' => 'lock hold', 'in' => null, 'kind' => 0, 'dlock.resource' => $resource, 'dlock.fencing_token' => $token];
    same([$wait($resource, 'acquired', ['dlock.fencing_token' => $token]), $hold], spans(), 'its spans');
    same([], Recorder::$active, 'nothing is active');

    same('sold out', thrown_by(fn () => $locks->synchronized($resource, fn () => throw new DomainException('sold out')))->getMessage(), 'an exception inside');
    [, $span] = spans();
    same(['sold out', 'Error DomainException', []], [$span['exception'], $span['status'], Recorder::$active], 'is recorded');

    $dead = new Dlock\OpenTelemetry\TracedLocks(new DistributedLock('redis://127.0.0.1:1'));
    fails(Dlock\ConnectionException::class, '*', fn () => $dead->acquire('a'));
    [$span] = spans();
    same(['error', 'a', 'Error Dlock\ConnectionException'], [$span['dlock.outcome'], $span['dlock.resource'], $span['status']], 'an error');
    echo "Done.\n";
}
?>
--EXPECT--
Done.
