<?php

declare(strict_types=1);

namespace Dlock\Session;

use Dlock\Lease;
use Dlock\LockManager;
use SessionHandler;
use SessionUpdateTimestampHandlerInterface;

/**
 * Gives the requests of one session their turns: from session_start() on, until the session is written and closed, no other
 * request has it. Where the data is kept is up to session.save_handler ("files", "redis", "memcached"), which this class passes
 * everything on to.
 */
final class LockingSessionHandler extends SessionHandler implements SessionUpdateTimestampHandlerInterface
{
    private ?Lease $lease = null;

    /**
     * @param float  $timeout seconds that session_start() waits for its turn; then it throws AcquireTimeoutException
     * @param string $prefix  put before the session's id to make the lock's name
     */
    public function __construct(private LockManager $locks, private float $timeout = 30.0, private string $prefix = 'session:')
    {
    }

    public function read(string $id): string|false
    {
        $this->lock($id);
        return parent::read($id);
    }

    /** False, of which PHP makes a warning, when the lock was lost: another request may have written meanwhile. */
    public function write(string $id, string $data): bool
    {
        return $this->lease !== null && $this->lease->isHeld() && parent::write($id, $data);
    }

    public function close(): bool
    {
        try {
            return parent::close();
        } finally {
            $lease = $this->lease;
            $this->lease = null;
            $lease?->release();
        }
    }

    /** For session.use_strict_mode, which a handler in PHP has to see to itself. A session without data is as good as none. */
    public function validateId(string $id): bool
    {
        $this->lock($id);
        return (string) parent::read($id) !== '';
    }

    public function updateTimestamp(string $id, string $data): bool
    {
        return $this->write($id, $data);
    }

    private function lock(string $id): void
    {
        if ($this->lease?->resource !== $this->prefix . $id) {
            $this->lease = null; // releases that of an id that was not valid
            $this->lease = $this->locks->acquire($this->prefix . $id, $this->timeout);
        }
    }
}
