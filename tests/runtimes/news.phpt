--TEST--
Runtimes: a strand that sends may receive another strand's answer: that strand is woken
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork', 'posix_kill');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/strands.inc';
require_once __DIR__ . '/../inc/relay.inc';

Strands::install();

/** Starts a strand that acquires and releases. Returns whether it has ended, and the last stream of its waiter. */
function asks(DistributedLock $lock, string $resource): object
{
    $asks = (object) ['over' => false, 'stream' => null];
    Strands::$before = function ($stream) use ($asks) {
        $asks->stream = $stream;
    };
    Strands::start(function () use ($lock, $resource, $asks) {
        $lock->acquire($resource, 60)->release();
        $asks->over = true;
    });
    return $asks;
}

function can_be_read(object $asks, int $seconds = 0): bool
{
    $read = [$asks->stream];
    $none = null;
    return stream_select($read, $none, $none, $seconds) === 1;
}

$relay = relay(redis_addresses()[0]);
$lock = new DistributedLock('redis://' . $relay->address() . '?read_timeout=60');
$lock->acquire(unique('script'), 0)->release(); // connects, and the server learns the scripts
$relay->cut();
$first = asks($lock, unique('first'));
$relay->mend();
same(true, can_be_read($first, 60), 'the answer has come');
$relay->cut();
$second = asks($lock, unique('second')); // on the same connection
same(true, can_be_read($first), 'the first one is woken, though the second has taken its answer in');
$relay->mend();
Strands::run();
same([true, true], [$first->over, $second->over], 'both had it');
echo "done\n";
?>
--EXPECT--
done
