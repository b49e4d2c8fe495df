<?php

declare(strict_types=1);

namespace Dlock\React;

use Fiber;
use React\EventLoop\Loop;
use React\EventLoop\LoopInterface;
use React\Promise\Promise;

use function React\Async\await;

/**
 * Makes calls of dlock that have to wait inside React\Async\async() suspend their fiber. Outside async() there is no
 * fiber to suspend, and a wait blocks the process. Call install() once, before the loop runs.
 *
 * @param LoopInterface|null $loop null: React's global loop
 */
function install(?LoopInterface $loop = null): void
{
    \Dlock\setWaiter(static fn ($stream, float $seconds): ?bool => Fiber::getCurrent() ? wait($loop ?? Loop::get(), $stream, $seconds) : false);
}

/**
 * @internal
 * @param resource $stream
 */
function wait(LoopInterface $loop, $stream, float $seconds): null
{
    $timer = null;
    $end = static function () use ($loop, $stream, &$timer): void { // stops both, so that only one of them resolves
        $loop->removeReadStream($stream);
        $loop->cancelTimer($timer);
    };
    await(new Promise(static function (callable $resolve) use ($loop, $stream, $seconds, $end, &$timer): void {
        $wake = static function () use ($resolve, $end): void {
            $end();
            $resolve(null);
        };
        $timer = $loop->addTimer($seconds, $wake);
        $loop->addReadStream($stream, $wake);
    }, static function () use ($end): void {
        $end();
        throw new \RuntimeException('The wait for a lock was cancelled');
    }));
    return null;
}
