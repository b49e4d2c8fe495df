<?php

declare(strict_types=1);

namespace Dlock\React;

use Fiber;
use React\EventLoop\Loop;
use React\EventLoop\LoopInterface;
use React\Promise\Promise;

use function React\Async\await;

/**
 * From now on a call of dlock that has to wait inside of React\Async\async() suspends its fiber. Elsewhere it blocks, as there is nothing
 * to suspend. Once, where the loop is set up; null: React's global loop.
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
    $end = static function () use ($loop, $stream, &$timer): void { // once, though both may be due
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
