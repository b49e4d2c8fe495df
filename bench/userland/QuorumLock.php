<?php
declare(strict_types=1);

/**
 * Redlock in PHP, as published: asks one server after the other, and needs a majority. If it has none, it pauses for a
 * random part of $retryDelay and tries again.
 */
final class QuorumLock
{
    private const DELETE_OWN = 'if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) else return 0 end';

    /** @param list<Redis> $servers */
    public function __construct(
        private readonly array $servers,
        private readonly int $retryDelay = 200, // ms
        private readonly int $retryCount = 3,
    ) {
    }

    /** @return array{validity: float, resource: string, token: string}|false */
    public function lock(string $resource, int $ttl): array|false
    {
        $token = bin2hex(random_bytes(16));
        for ($attempt = 1; ; $attempt++) {
            $start = microtime(true);
            $votes = 0;
            foreach ($this->servers as $server) {
                $votes += $server->set($resource, $token, ['NX', 'PX' => $ttl]) ? 1 : 0;
            }
            $validity = $ttl - (microtime(true) - $start) * 1000 - ($ttl * 0.01 + 2);
            $lock = ['validity' => $validity, 'resource' => $resource, 'token' => $token];
            if ($votes > count($this->servers) / 2 && $validity > 0) {
                return $lock;
            }
            $this->unlock($lock);
            if ($attempt === $this->retryCount) {
                return false;
            }
            usleep(random_int(intdiv($this->retryDelay, 2), $this->retryDelay) * 1000);
        }
    }

    /** @param array{resource: string, token: string} $lock */
    public function unlock(array $lock): void
    {
        foreach ($this->servers as $server) {
            $server->eval(self::DELETE_OWN, [$lock['resource'], $lock['token']], 1);
        }
    }
}
