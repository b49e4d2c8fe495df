<?php
declare(strict_types=1);

/**
 * Tells the page what the workers do. It is no part of the sale. A visit is one request's way through the critical
 * section. Times are ms since the sale began, on the monotonic clock that all processes of this machine share.
 */
final class Watch
{
    private float $asked;
    private ?float $entered = null;
    private ?float $left = null;
    private ?int $token = null;

    /** @param int $began by hrtime(true) */
    public function __construct(private readonly Redis $redis, private readonly int $began)
    {
        $this->asked = $this->now();
        $this->tell('waits');
    }

    public function enters(?int $fencingToken): void
    {
        $this->entered = $this->now();
        $this->token = $fencingToken;
        $this->tell('inside');
    }

    public function leaves(): void
    {
        $this->left = $this->now();
        $this->redis->hDel('watch:workers', (string) getmypid());
    }

    /** @param string $outcome "sold", "sold out", "not paid", "gave up" or "failed" */
    public function ends(string $outcome, ?int $stock): void
    {
        $visit = [getmypid(), $this->asked, $this->entered, $this->left ?? $this->now(), $this->token, $outcome, $stock];
        $this->redis->hDel('watch:workers', (string) getmypid());
        $this->redis->rPush('watch:visits', json_encode($visit));
    }

    private function tell(string $state): void
    {
        $this->redis->hSet('watch:workers', (string) getmypid(), json_encode([$state, $this->token]));
    }

    private function now(): float
    {
        return round((hrtime(true) - $this->began) / 1e6, 2);
    }
}
