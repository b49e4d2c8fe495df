<?php

declare(strict_types=1);

namespace Dlock\Revolt;

use Revolt\EventLoop;

/**
 * Makes calls of dlock that have to wait suspend their fiber. In {main} such a call runs the event loop. Call install()
 * once, before the loop runs.
 */
function install(): void
{
    \Dlock\setWaiter(wait(...));
}

/**
 * @internal
 * @param resource $stream
 */
function wait($stream, float $seconds): void
{
    $suspension = EventLoop::getSuspension();
    $watchers = [];
    $wake = static function () use (&$watchers, $suspension): void { // cancels both, so that only one of them resumes
        array_map(EventLoop::cancel(...), $watchers);
        $suspension->resume();
    };
    $watchers = [EventLoop::onReadable($stream, $wake), EventLoop::delay($seconds, $wake)];
    try {
        $suspension->suspend();
    } finally {
        array_map(EventLoop::cancel(...), $watchers);
    }
}
