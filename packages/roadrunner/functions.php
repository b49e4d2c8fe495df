<?php

declare(strict_types=1);

namespace Dlock\RoadRunner;

/**
 * Wraps a function that handles one request, job or message of a worker: when it ends, the locks that it has not
 * released are released.
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
