<?php

declare(strict_types=1);

namespace Dlock\RoadRunner;

/**
 * The same function, which gives back at its end what it acquired and forgot: one request, job or message of a worker.
 *
 * @template T
 * @param callable(mixed...): T $handle
 * @return callable(mixed...): T
 */
function scoped(callable $handle): callable
{
    return static function (mixed ...$arguments) use ($handle): mixed {
        \Dlock\beginRequest();
        try {
            return $handle(...$arguments);
        } finally {
            \Dlock\endRequest();
        }
    };
}
