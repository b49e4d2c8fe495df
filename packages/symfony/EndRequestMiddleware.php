<?php

declare(strict_types=1);

namespace Dlock\Symfony;

use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Middleware\MiddlewareInterface;
use Symfony\Component\Messenger\Middleware\StackInterface;
use Symfony\Component\Messenger\Stamp\ConsumedByWorkerStamp;

/**
 * For Messenger workers: releases the locks that the handlers of a message have not released when they return. Must be
 * the first middleware of a bus.
 */
final class EndRequestMiddleware implements MiddlewareInterface
{
    public function handle(Envelope $envelope, StackInterface $stack): Envelope
    {
        if ($envelope->last(ConsumedByWorkerStamp::class) === null) { // sent, or handled by the sending process
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
