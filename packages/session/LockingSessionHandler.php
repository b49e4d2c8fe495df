<?php

declare(strict_types=1);

namespace Dlock\Session;

use Dlock\Lease;
use Dlock\LockManager;
use SessionHandler;
use SessionUpdateTimestampHandlerInterface;

/**
 * Locks each session, so that its requests run one after the other. session_start() acquires the lock, and closing the
 * session releases it. session.save_handler ("files", "redis", "memcached") stores the data: this class forwards every
 * call to it.
 */
final class LockingSessionHandler extends SessionHandler implements SessionUpdateTimestampHandlerInterface
{
    private ?Lease $lease = null;
    /** From read() until close(): the lease is that of the running session. */
    private bool $runs = false;

    /**
     * @param float  $timeout longest wait of session_start() in seconds; then it throws AcquireTimeoutException
     * @param string $prefix  the name of a session's lock is $prefix . $id
     */
    public function __construct(private LockManager $locks, private float $timeout = 30.0, private string $prefix = 'session:')
    {
    }

    public function read(string $id): string|false
    {
        $this->lock($id);
        $this->runs = true;
        return parent::read($id);
    }

    /** Returns false if the lock was lost, because another request may have written meanwhile. PHP then warns. */
    public function write(string $id, string $data): bool
    {
        return $this->lease?->resource === $this->prefix . $id && $this->lease->isHeld() && parent::write($id, $data);
    }

    public function close(): bool
    {
        try {
            return parent::close();
        } finally {
            $lease = $this->lease;
            $this->lease = null;
            $this->runs = false;
            $lease?->release();
        }
    }

    /**
     * For session.use_strict_mode, which PHP leaves to the handler. A session without data counts as unknown. While a
     * session runs, session_create_id() asks whether its new id is in use: the running session keeps its lock.
     */
    public function validateId(string $id): bool
    {
        if (!$this->runs) {
            $this->lock($id);
        }
        return (string) parent::read($id) !== '';
    }

    public function updateTimestamp(string $id, string $data): bool
    {
        return $this->write($id, $data);
    }

    private function lock(string $id): void
    {
        if ($this->lease?->resource !== $this->prefix . $id) {
            $this->lease = null; // releases the lock of an id that was not valid
            $this->lease = $this->locks->acquire($this->prefix . $id, $this->timeout);
        }
    }
}
