<?php

declare(strict_types=1);

namespace Dlock\Laravel;

use DateInterval;
use DateTimeInterface;
use Dlock\Semaphore;
use Illuminate\Contracts\Redis\LimiterTimeoutException;
use Illuminate\Support\InteractsWithTime;
use LogicException;

/**
 * Replaces what Redis::funnel() returns in Laravel (8 and later), with Dlock\Semaphore. Up to limit() callbacks run at
 * once. Further callers wait in order, without polling.
 */
final class Funnel
{
    use InteractsWithTime;

    private int $limit = 0;
    private int|float|null $seconds = null;
    private int|float $timeout = 3;

    /**
     * @param string|array|null $server Redis server, as for Dlock\Semaphore; null: INI dlock.server
     * @param string            $prefix the key of a name is $prefix . $name
     */
    public function __construct(
        private string $name,
        #[\SensitiveParameter] private string|array|null $server = null,
        private string $prefix = 'Funnel:',
    ) {
    }

    public function limit(int $maxLocks): self
    {
        $this->limit = $maxLocks;
        return $this;
    }

    /**
     * Releases the place after this time (an int: seconds), even if the callback still runs. Without this call, the
     * place is renewed while the callback runs.
     */
    public function releaseAfter(DateTimeInterface|DateInterval|int $releaseAfter): self
    {
        $this->seconds = $this->secondsUntil($releaseAfter);
        return $this;
    }

    /** Sets the longest wait in seconds; the default is 3. */
    public function block(int|float $timeout): self
    {
        $this->timeout = $timeout;
        return $this;
    }

    /** Has no effect: Laravel's pause between two polls, and dlock does not poll. */
    public function sleep(int $milliseconds): self
    {
        return $this;
    }

    /**
     * @param callable|null $failure called with the LimiterTimeoutException, which is then not thrown
     * @throws LimiterTimeoutException no place was free within the longest wait
     * @throws \Dlock\DeadlockException immediately, if callbacks that wait for this one occupy all places without
     *         releaseAfter()
     */
    public function then(callable $callback, ?callable $failure = null): mixed
    {
        if ($this->limit < 1) {
            throw new LogicException("The funnel \"$this->name\" has no limit(), or one below 1.");
        }
        $lease = (new Semaphore($this->limit, $this->server, $this->prefix))
            ->tryAcquire($this->name, 1, $this->timeout, $this->seconds === null ? null : (float) $this->seconds);
        if ($lease === null) {
            $e = new LimiterTimeoutException("All $this->limit places of the funnel \"$this->name\" were occupied for $this->timeout seconds.");
            return $failure === null ? throw $e : $failure($e);
        }
        try {
            return $callback();
        } finally {
            $lease->release();
        }
    }
}
