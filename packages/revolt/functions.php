<?php

declare(strict_types=1);

namespace Dlock\Revolt;

use Revolt\EventLoop;

/**
 * From now on a call of dlock that has to wait suspends its fiber, or in {main} runs the event loop. Once, where the loop is set up.
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
    $wake = static function () use (&$watchers, $suspension): void { // once, though both may be due
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
