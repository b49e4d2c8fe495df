<?php

declare(strict_types=1);

namespace Dlock\Laravel;

use Dlock\Lease;

/**
 * Locks of a LockProvider that belong to this process, because the servers do not accept their seconds as a lease time.
 *
 * They are renewed until their seconds have passed. The process checks this only when it uses a lock of the provider.
 * PHP warns if the process ends before that while it still holds such a lock: Laravel's own lock would stay.
 *
 * @internal
 */
final class HeldLocks
{
    /** @var array<string, array{Lease, float}> by token: the lease, and when its seconds end (in s, hrtime) */
    private array $leases = [];
    private bool $warns = false;

    public function add(Lease $lease, float $seconds): void
    {
        $this->sweep();
        if (!$this->warns) {
            $this->warns = true;
            register_shutdown_function($this->warn(...));
        }
        $this->leases[$lease->token] = [$lease, hrtime(true) / 1e9 + $seconds];
    }

    public function has(string $token): bool
    {
        $this->sweep();
        return isset($this->leases[$token]);
    }

    public function owner(Lease $lease): string
    {
        return "dlock-held-$lease->token";
    }

    public function find(string $owner, string $name): ?Lease
    {
        $this->sweep();
        [$lease] = $this->leases[substr($owner, strlen('dlock-held-'))] ?? [null];
        return $lease?->resource === $name && $lease->isHeld() ? $lease : null;
    }

    public function remove(string $token): void
    {
        unset($this->leases[$token]);
    }

    private function sweep(): void
    {
        foreach ($this->leases as $token => [$lease, $end]) {
            if (!$lease->isHeld() || hrtime(true) / 1e9 >= $end) {
                unset($this->leases[$token]); // releases the lock
            }
        }
    }

    private function warn(): void
    {
        $this->sweep();
        foreach ($this->leases as [$lease, $end]) {
            $end - hrtime(true) / 1e9 > 31_000_000 // no seconds: documented to end with the process
                || trigger_error("The lock \"$lease->resource\" ends with this process, before its seconds are over: no lease is longer than the guard. "
                    . 'Release it, or raise "guard" in its DSN.', E_USER_WARNING);
        }
    }
}
