<?php

declare(strict_types=1);

namespace Dlock\Octane;

/** What a request, task or tick of Octane acquires and forgets is given back at its end; what the worker had before stays. */
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
