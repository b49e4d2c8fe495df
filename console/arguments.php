<?php
declare(strict_types=1);

namespace Dlock\Console;

/** The command line, and the locks that it names. */
final class Arguments
{
    private const WITH_VALUE = ['server', 'class', 'prefix', 'root', 'auth', 'waiters', 'capacity', 'id', 'timeout', 'ttl', 'count', 'stock', 'stock-prefix'];
    private const SWITCHES = ['json', 'all', 'now', 'yes', 'help', 'version'];

    public readonly string $command;
    /** What follows the command. @var list<string> */
    public readonly array $names;
    /** What follows "--". @var list<string> */
    public readonly array $rest;
    /** @var array<string, string> */
    private array $options = [];
    /** @var list<string|array> */
    private array $servers = [];
    /** @var list<string> */
    public array $stocks = [];

    /** @param list<string> $words */
    public function __construct(#[\SensitiveParameter] array $words)
    {
        $names = $rest = [];
        for ($words = with_files($words); $words;) {
            $word = array_shift($words);
            if ($word === '--') {
                $rest = $words;
                break;
            }
            if (!str_starts_with($word, '--') || $word === '-') {
                $names[] = $word;
                continue;
            }
            [$name, $value] = explode('=', substr($word, 2), 2) + [1 => null];
            if (in_array($name, self::SWITCHES, true)) {
                $value = $value === null ? '1' : throw new Misuse("--$name takes no value");
            } elseif (!in_array($name, self::WITH_VALUE, true)) {
                throw new Misuse("there is no option --$name; see --help");
            }
            $this->take($name, $value ?? array_shift($words) ?? throw new Misuse("--$name needs a value"));
        }
        $this->command = array_shift($names) ?? ($this->has('help') || $this->has('version') ? '' : throw new Misuse('which command? see --help'));
        $this->names = $names;
        $this->rest = $rest;
    }

    private function take(string $name, #[\SensitiveParameter] string $value): void
    {
        if ($name === 'server') {
            $this->servers[] = server($value);
        } elseif ($name === 'stock') {
            $this->stocks[] = $value;
        } else {
            $this->options[$name] = $value;
        }
    }

    public function has(string $name): bool
    {
        return isset($this->options[$name]);
    }

    public function text(string $name, string $otherwise = ''): string
    {
        return $this->options[$name] ?? $otherwise;
    }

    /** Seconds; null: the option is missing. */
    public function seconds(string $name): ?float
    {
        $value = $this->options[$name] ?? null;
        if ($value !== null && (!is_numeric($value) || $value < 0)) {
            throw new Misuse("--$name must be a number of seconds");
        }
        return $value === null ? null : (float) $value;
    }

    public function whole(string $name, int $otherwise, int $least, int $most): int
    {
        $value = $this->options[$name] ?? (string) $otherwise;
        if (!preg_match('/^\d{1,9}$/D', $value) || $value < $least || $value > $most) {
            throw new Misuse("--$name must be a whole number from $least to $most");
        }
        return (int) $value;
    }

    public function name(): string
    {
        return count($this->names) === 1 ? $this->names[0] : throw new Misuse("$this->command needs the name of one lock");
    }

    public function server(): string|array
    {
        return count($this->servers) > 1 ? throw new Misuse("$this->command takes one --server") : $this->first();
    }

    private function first(): string|array
    {
        return $this->servers[0] ?? (string) ini_get('dlock.server');
    }

    /** Each server of a RedLock by itself, where its locks are ordinary ones. @return list<\DistributedLock> */
    public function each_server(): array
    {
        return array_map(fn (string|array $server) => new \DistributedLock($server, $this->text('prefix')), $this->servers);
    }

    private function class(): string
    {
        $first = $this->first();
        return $this->options['class'] ?? match (true) {
            is_string($first) && !str_contains($first, '://') => 'ZkLock',
            is_string($first) && str_starts_with($first, 'zookeeper://') => 'Semaphore',
            count($this->servers) > 1 => 'RedLock',
            default => 'DistributedLock',
        };
    }

    private function prefix(): string
    {
        return $this->options['prefix'] ?? ['DistributedLock' => 'Lock:', 'Semaphore' => 'Semaphore:', 'ReadWriteLock' => 'ReadWriteLock:'][$this->class()] ?? '';
    }

    /** For errors: a server without a scheme was taken for a ZooKeeper, and may be a Redis. */
    public function hint(): string
    {
        return !isset($this->options['class']) && $this->class() === 'ZkLock' ? '. (A Redis server is given as redis://host:port.)' : '';
    }

    /** Which locks these are, for messages. */
    public function kind(): string
    {
        return $this->class() === 'ZkLock' ? 'ZkLock below ' . $this->text('root', '/locks') : $this->class() . ' with the prefix "' . $this->prefix() . '"';
    }

    /** The object that has these locks. */
    public function locks(): \Dlock\LockManager|\Dlock\Semaphore
    {
        $server = $this->first();
        $class = $this->class();
        if ($class !== 'RedLock' && count($this->servers) > 1) {
            throw new Misuse("$class takes one --server" . ($class === 'ZkLock' ? ', with commas between hosts' : ''));
        }
        $prefix = $this->prefix();
        try {
            return match ($class) {
                'DistributedLock' => new \DistributedLock($server, $prefix),
                'RedLock' => new \RedLock($this->servers ?: [$server], prefix: $prefix),
                'ZkLock' => class_exists('ZkLock', false) ? new \ZkLock($server, $this->text('root', '/locks'), auth: $this->options['auth'] ?? null)
                    : throw new Misuse('this build of the extension has no ZkLock' . $this->hint()),
                'Semaphore' => new \Dlock\Semaphore($this->whole('capacity', 1, 1, 999999999), $server, $prefix),
                'ReadWriteLock' => (new \Dlock\ReadWriteLock($server, $prefix))->writeLock(),
                default => throw new Misuse('--class must be DistributedLock, RedLock, ZkLock, Semaphore or ReadWriteLock'),
            };
        } catch (\ValueError | \TypeError $e) {
            throw new Misuse($e->getMessage() . $this->hint());
        }
    }
}
