<?php

declare(strict_types=1);

namespace Dlock\Symfony;

use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Middleware\MiddlewareInterface;
use Symfony\Component\Messenger\Middleware\StackInterface;
use Symfony\Component\Messenger\Stamp\ConsumedByWorkerStamp;

/** Messenger: what a worker's handlers of a message acquired and forgot is given back when they have returned. The first of a bus' middleware. */
final class EndRequestMiddleware implements MiddlewareInterface
{
    public function handle(Envelope $envelope, StackInterface $stack): Envelope
    {
        if ($envelope->last(ConsumedByWorkerStamp::class) === null) { // sent, or handled at once by whoever sends it
            return $stack->next()->handle($envelope, $stack);
        }
        \Dlock\beginRequest();
        try {
            return $stack->next()->handle($envelope, $stack);
        } finally {
            \Dlock\endRequest();
        }
    }
}
