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
 * What Redis::funnel() returns in Laravel (8 and later), on Dlock\Semaphore: up to limit() run at once, the others wait in turn, without polling.
 */
final class Funnel
{
    use InteractsWithTime;

    private int $limit = 0;
    private int|float|null $seconds = null;
    private int|float $timeout = 3;

    /**
     * @param string|array|null $server Redis, as Dlock\Semaphore's; null: INI dlock.server
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

    /** Others get in after this time although the callback still runs. Without it, the place is renewed while the callback runs. */
    public function releaseAfter(DateTimeInterface|DateInterval|int $releaseAfter): self
    {
        $this->seconds = $this->secondsUntil($releaseAfter);
        return $this;
    }

    /** Longest wait in seconds; 3 without this call. */
    public function block(int|float $timeout): self
    {
        $this->timeout = $timeout;
        return $this;
    }

    /** Laravel's pause between two looks, which there is none of. */
    public function sleep(int $milliseconds): self
    {
        return $this;
    }

    /**
     * @param callable|null $failure called with the LimiterTimeoutException in place of it
     * @throws LimiterTimeoutException when nobody left in that time
     * @throws \Dlock\DeadlockException at once, where all places are taken by callbacks that wait for this one, and have no releaseAfter()
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
