<?php

declare(strict_types=1);

namespace Dlock\Symfony;

use Symfony\Component\EventDispatcher\EventSubscriberInterface;
use Symfony\Component\HttpKernel\Event\RequestEvent;
use Symfony\Component\HttpKernel\Event\TerminateEvent;

/**
 * For workers (the Symfony runtimes of RoadRunner, Swoole, FrankenPHP): releases the locks that a request has not
 * released when it ends.
 */
final class EndRequestListener implements EventSubscriberInterface
{
    public static function getSubscribedEvents(): array
    {
        return ['kernel.request' => ['begin', 4096], 'kernel.terminate' => ['end', -4096]];
    }

    public function begin(RequestEvent $event): void
    {
        if ($event->isMainRequest()) {
            \Dlock\beginRequest();
        }
    }

    public function end(TerminateEvent $event): void
    {
        \Dlock\endRequest();
    }
}
