<?php
/* Competes with other contenders for one lock until SIGTERM, and logs its turns as client.php does.
 *
 *   php contender.php CONFIG      JSON: class, servers, resource, permits, dir, name */
declare(strict_types=1);

require __DIR__ . '/inc/journal.php';
require __DIR__ . '/inc/locks.php';

final class Ended extends Exception
{
}

['class' => $class, 'servers' => $servers, 'resource' => $resource, 'permits' => $permits, 'dir' => $dir, 'name' => $name] = json_decode($argv[1], true, flags: JSON_THROW_ON_ERROR);
$journal = new Journal("$dir/history/$name.jsonl");
// The servers may have restarted within the guard's time, which is not tested here.
ini_set('dlock.restart_guard', '0');
$locks = new Locks($class, $servers, Setting::ttls($class)['longest']);
pcntl_async_signals(true);
pcntl_signal(SIGTERM, fn () => throw new Ended());
try {
    for ($n = 1;; $n++) {
        $asked = nanoseconds();
        $journal->write('ask', ['n' => $n, 'r' => $resource, 'permits' => $permits, 'of' => Setting::capacity($class), 'timeout' => Setting::CONTEST_TIMEOUT, 't0' => $asked]);
        $lease = $error = null;
        try {
            $lease = $locks->acquire($resource, $permits, Setting::CONTEST_TIMEOUT);
        } catch (Dlock\DlockException $e) {
            $error = $e::class . ': ' . $e->getMessage();
        }
        $journal->write('got', ['n' => $n, 't0' => $asked, 't1' => nanoseconds(), 'ok' => $lease !== null, 'fence' => $lease?->fencingToken, 'e' => $error]);
        if ($lease) {
            usleep(1_000);
            $looked = nanoseconds();
            $journal->write('held', ['n' => $n, 't0' => $looked, 't1' => nanoseconds(), 'held' => $lease->isHeld()]);
            try {
                $lease->release();
            } catch (Dlock\DlockException) { // a busy machine may be late; the lease then expires
            }
        }
    }
} catch (Ended) {
}
