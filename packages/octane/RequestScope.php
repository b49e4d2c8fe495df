<?php

declare(strict_types=1);

namespace Dlock\Octane;

/**
 * Releases the locks that a request, task or tick of Octane has not released when it ends. Locks that the worker held
 * before stay.
 */
final class RequestScope
{
    public function begin(): void
    {
        \Dlock\beginRequest();
    }

    public function end(): void
    {
        \Dlock\endRequest();
    }
}
