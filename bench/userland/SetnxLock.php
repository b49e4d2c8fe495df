<?php
declare(strict_types=1);

/**
 * A lock as many applications have had it: SETNX with its end time as the value, GETSET if that time has passed, and a
 * pause of 100 ms between attempts. (A late holder may delete another holder's lock. The class is here to be measured.)
 */
final class SetnxLock
{
    private const PAUSE = 100_000; // µs

    /** @var array<string, int> key => the end that this object wrote */
    private array $held = [];

    public function __construct(private readonly Redis $redis, private readonly int $expire = 20)
    {
    }

    public function lock(string $name, float $timeout): bool
    {
        $key = "Setnx:$name";
        $deadline = microtime(true) + $timeout;
        do {
            $end = time() + $this->expire;
            if ($this->redis->setnx($key, (string) $end) || $this->takeOver($key, $end)) {
                $this->redis->expire($key, $this->expire);
                $this->held[$name] = $end;
                return true;
            }
            usleep(self::PAUSE);
        } while (microtime(true) < $deadline);
        return false;
    }

    public function unlock(string $name): bool
    {
        if (!isset($this->held[$name])) {
            return false;
        }
        unset($this->held[$name]);
        return $this->redis->del("Setnx:$name") === 1;
    }

    private function takeOver(string $key, int $end): bool
    {
        $known = $this->redis->get($key);
        return $known !== false && (int) $known < time() && $this->redis->getSet($key, (string) $end) === $known;
    }
}
