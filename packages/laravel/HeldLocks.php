<?php

declare(strict_types=1);

namespace Dlock\Laravel;

use Dlock\Lease;

/**
 * Locks of a LockProvider that belong to this process, since the servers do not have their seconds as a lease time. They are renewed, and
 * released when their seconds are over, as far as this process looks: whenever a lock of the provider is used. One that is still held at the
 * end of the process, before its seconds are over, is worth a warning: Laravel's own would stay.
 *
 * @internal
 */
final class HeldLocks
{
    /** @var array<string, array{Lease, float}> by token: the lease, and the end of its seconds */
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
                unset($this->leases[$token]); // releases it
            }
        }
    }

    private function warn(): void
    {
        $this->sweep();
        foreach ($this->leases as [$lease, $end]) {
            $end - hrtime(true) / 1e9 > 31_000_000 // without seconds: until the process ends is what it says
                || trigger_error("The lock \"$lease->resource\" ends with this process, before its seconds are over: no lease is longer than the guard. "
                    . 'Release it, or raise "guard" in its DSN.', E_USER_WARNING);
        }
    }
}
