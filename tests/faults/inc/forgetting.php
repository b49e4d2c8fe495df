<?php
declare(strict_types=1);

require_once __DIR__ . '/servers.php';
require_once __DIR__ . '/setting.php';

/** Makes one server of several forget a single key, as DEL or an eviction does. */
final class Forgetting
{
    /** Seconds for which a server may take to answer: other servers have faults of their own. */
    private const ANSWER = 0.05;
    private const LOOK = "local found = {}
        for i, key in ipairs(KEYS) do found[i] = {redis.call('GET', key) or '', redis.call('PTTL', key)} end
        return found";
    /** Keeps the key if it was changed or extended after the look. */
    private const FORGET = "if redis.call('GET', KEYS[1]) ~= ARGV[1] or redis.call('PTTL', KEYS[1]) > tonumber(ARGV[2]) then return 0 end
        return redis.call('DEL', KEYS[1])";
    /** ns. A holder for 0.3 s, the shortest lease time in use, relies on the lock for 5 ms less. */
    private const TOLERANCE = 3_000_000;
    private const STRANGER = 'a client of no interest';

    private readonly int $quorum;

    public function __construct(private readonly RedisServers $servers)
    {
        $this->quorum = intdiv($servers->count(), 2) + 1;
    }

    /**
     * Forgets a key on which no lease depends, because a quorum of the other servers also has it: with the same token,
     * for at least as long. An extension between the look and the deletion is harmless: if it came first, the key
     * stays; if it comes later, this server refuses it. False: there was no such key.
     */
    public function spareKey(float $seconds): bool
    {
        return $this->seek($seconds, function (string $key, string $token, array $holders): bool {
            foreach ($holders as $server => ['most' => $most, 'left' => $left]) {
                $others = array_filter($holders, fn (array $other, int $i) => $i !== $server && $other['least'] >= $most - self::TOLERANCE, ARRAY_FILTER_USE_BOTH);
                if (count($others) >= $this->quorum) {
                    return $this->forget($server, $key, $token, $left);
                }
            }
            return false;
        });
    }

    /**
     * Forgets a key on which a lease depends. The holder has only a quorum, because a stranger has the lock on the
     * other servers. The stranger then releases it. These servers and the server that forgets are a quorum, too.
     */
    public function neededKey(float $seconds, int $server): bool
    {
        $others = array_map(fn (int $i) => ($server + $i) % $this->servers->count(), range(1, $this->servers->count() - $this->quorum));
        foreach ($others as $other) {
            foreach (self::keys() as $key) {
                $this->servers->servers[$other]->tell('SET', $key, self::STRANGER, 'NX', 'PX', (int) ($seconds * 2000));
            }
        }
        $goes = fn (string $key) => array_map(fn (int $other) => $this->forget($other, $key, self::STRANGER, PHP_INT_MAX), $others);
        $done = $this->seek($seconds, function (string $key, string $token, array $holders) use ($server, $goes): bool {
            if ($token === self::STRANGER || count($holders) !== $this->quorum || !isset($holders[$server]) || min(array_column($holders, 'left')) < 200) {
                return false;
            }
            $goes($key);
            return $this->forget($server, $key, $token, $holders[$server]['left']);
        });
        array_map($goes, self::keys());
        return $done;
    }

    /** Forgets the queue of a lock, or what else a server knows of its waiters. */
    public function waiters(int $server, float $detail): void
    {
        $key = self::keys()[(int) ($detail * count(self::keys()))];
        $this->servers->servers[$server]->tell('DEL', ['dlock:queue:', 'dlock:waiters:'][(int) ($detail * 1000) % 2] . "{{$key}}");
    }

    /** @return list<string> */
    private static function keys(): array
    {
        return array_map(fn (string $resource) => Setting::PREFIX . $resource, Setting::RESOURCES);
    }

    private function forget(int $server, string $key, string $token, int $left): bool
    {
        try {
            return $this->servers->servers[$server]->raw(self::ANSWER)->cmd('EVAL', self::FORGET, 1, $key, $token, $left) === 1;
        } catch (RuntimeException) {
            return false;
        }
    }

    /** Reads all locks until $forget was true for one, or the time has passed. */
    private function seek(float $seconds, callable $forget): bool
    {
        $until = nanoseconds() + (int) ($seconds * 1e9);
        do {
            foreach ($this->look() as $key => $tokens) {
                foreach ($tokens as $token => $holders) {
                    if ($forget($key, (string) $token, $holders)) {
                        return true;
                    }
                }
            }
            usleep(3_000);
        } while (nanoseconds() < $until);
        return false;
    }

    /**
     * @return array<string, array<string, array<int, array{least: int, most: int, left: int}>>> by key, token, and
     * server: when it expires there (ns, at least and at most), and in how many ms that was
     */
    private function look(): array
    {
        $asked = [];
        foreach ($this->servers->servers as $i => $server) {
            try {
                $connection = $server->raw(self::ANSWER);
                $connection->send('EVAL', self::LOOK, count(self::keys()), ...self::keys());
                $asked[$i] = [$connection, nanoseconds()];
            } catch (RuntimeException) {
            }
        }
        $found = [];
        foreach ($asked as $i => [$connection, $at]) {
            try {
                foreach ($connection->reply() as $k => [$token, $left]) {
                    if ($left > 0) {
                        $found[self::keys()[$k]][$token][$i] = ['least' => $at + $left * 1_000_000, 'most' => nanoseconds() + $left * 1_000_000, 'left' => $left];
                    }
                }
            } catch (RuntimeException) {
            }
        }
        return $found;
    }
}
