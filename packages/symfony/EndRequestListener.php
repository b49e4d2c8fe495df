<?php

declare(strict_types=1);

namespace Dlock\Symfony;

use Symfony\Component\EventDispatcher\EventSubscriberInterface;
use Symfony\Component\HttpKernel\Event\RequestEvent;
use Symfony\Component\HttpKernel\Event\TerminateEvent;

/** In workers (the Symfony runtimes of RoadRunner, Swoole, FrankenPHP): what a request acquired and forgot is given back at its end. */
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
