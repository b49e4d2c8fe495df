<?php
declare(strict_types=1);

namespace Dlock\Doctor;

const LEAST_MEMCACHED = '1.6.0';

/** One memcached server. */
final class MemcachedServer extends Server
{
    public readonly MemcachedConnection $memcached;
    /** @var array<string, string> */
    public array $stats = [];
    /** @var array<string, string> */
    public array $settings = [];

    /** @param array<string, mixed> $spec see Dlock\describe_server() */
    public function __construct(public readonly array $spec, Plan $plan)
    {
        parent::__construct($spec['label'], $plan);
    }

    public function examine(): void
    {
        try {
            if (!$this->open()) {
                return;
            }
            $this->usable = true;
            $this->stats = $this->memcached->stats();
            $this->settings = $this->memcached->stats('settings');
            foreach (Subjects::of(self::class) as $examine) {
                $examine($this);
            }
        } catch (Trouble $e) {
            $this->unusable('unreachable', $e->getMessage() . '.', 'Locks cannot be acquired there.',
                'See to the server and to what is between here and there.');
        }
    }

    public function stat(string $name): int
    {
        return (int) ($this->stats[$name] ?? 0);
    }

    /** False: no lock can be acquired there. */
    private function open(): bool
    {
        try {
            $this->memcached = new MemcachedConnection($this->spec);
        } catch (Trouble $e) {
            $this->unusable('unreachable', 'cannot be reached: ' . $e->getMessage() . '.', 'Locks cannot be acquired there.',
                'Is it running, on this address, and does a firewall let this host through?');
            return false;
        }
        $answer = $this->memcached->ask('version');
        if (!str_starts_with($answer, 'VERSION ')) {
            $this->unusable('refuses', "refuses commands: $answer", 'Locks cannot be acquired there.', str_contains($answer, 'unauthenticated')
                ? 'dlock cannot log in to memcached: start it without -Y.' : 'Is it memcached? The text is what the server said.');
            return false;
        }
        $this->version = substr($answer, strlen('VERSION '));
        if (version_compare($this->version, LEAST_MEMCACHED, '<')) {
            $this->unusable('version', "is memcached $this->version.",
                'It has no meta commands, without which a lock cannot be released safely: dlock needs ' . LEAST_MEMCACHED . ' or later.', 'Upgrade it.');
            return false;
        }
        return true;
    }
}
