<?php
/* Tests from outside, after the faults, whether locks can be acquired.
 *
 *   php probe.php CONFIG      JSON: class, servers, resource, what
 *
 * "free": acquires the lock, or all permits, and releases it. "after a dead holder": waits for it while its holder is
 * killed. "late": acquires it for a long time, releases it, and does not end. Prints JSON: from when, until when, and
 * whether it acquired the lock. "names": see below. */
declare(strict_types=1);

require __DIR__ . '/inc/journal.php';
require __DIR__ . '/inc/locks.php';

function say(array $entry): void
{
    echo json_encode($entry), "\n";
}

/**
 * Holds a lease that is renewed, reports that, and continues while the names of some servers hang. The lease must not
 * be lost, and no call may wait for the names. Prints JSON: what was wrong.
 */
function names(array $servers, string $resource): void
{
    ini_set('dlock.restart_guard', '0'); // as below
    $locks = (new Locks('RedLock', $servers, Setting::RENEWED_TTL))->manager;
    $lease = $locks->acquire($resource, 30.0);
    usleep((int) (Setting::RENEWED_TTL * 0.5e6)); // it has been renewed by now
    say(['ok' => $lease->isHeld()]);
    fgets(STDIN);
    $wrong = [];
    $timed = function (string $what, callable $do) use (&$wrong) {
        $from = nanoseconds();
        $do();
        $took = nanoseconds() - $from;
        $took < Setting::RENEWED_TTL * 1e9 || isset($wrong[$what]) || $wrong[$what] = sprintf('%s took %.3f s', $what, $took / 1e9);
    };
    $until = nanoseconds() + (int) (2 * Setting::RENEWED_TTL * 1e9);
    for ($i = 0; nanoseconds() < $until; $i++) {
        $timed('tryAcquire()', fn () => $locks->tryAcquire("$resource$i")?->release());
        $timed('fork()', function () {
            if (($child = pcntl_fork()) === 0) {
                posix_kill(getmypid(), SIGKILL);
            }
            pcntl_waitpid($child, $status);
        });
        $lease->isHeld() || $wrong['lost'] ??= 'the lease was lost';
        usleep(100_000);
    }
    say(array_values($wrong));
}

['class' => $class, 'servers' => $servers, 'resource' => $resource, 'what' => $what] = json_decode($argv[1], true, flags: JSON_THROW_ON_ERROR);
if ($what === 'names') {
    names($servers, $resource);
    exit(0);
}
$from = nanoseconds();
if ($what === 'after a dead holder') {
    [$mine, $its] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    if (pcntl_fork() === 0) {
        $lease = (new Locks($class, $servers, Setting::ttls($class)['longest']))->acquire($resource, Setting::capacity($class), 30.0);
        fwrite($its, "held\n");
        usleep(500_000);
        fwrite($its, nanoseconds() . "\n");
        posix_kill(getmypid(), SIGKILL);
    }
    fclose($its);
    fgets($mine);
}
if ($what === 'late') {
    // The servers may have restarted within its 60 s, which is not tested here.
    ini_set('dlock.restart_guard', '0');
}
try {
    // If a lease is renewed, its release goes to all servers, whichever have answered.
    $lease = (new Locks($class, $servers, Setting::ttls($class)['longest']))->acquire($resource, Setting::capacity($class), 30.0, $what === 'late' ? 60.0 : null);
    $until = nanoseconds();
    if ($what === 'after a dead holder') {
        $from = (int) fgets($mine);
    }
    $lease->release();
    say(['ok' => true, 't0' => $from, 't1' => $until, 'e' => null]);
} catch (Dlock\DlockException $e) {
    say(['ok' => false, 't0' => $from, 't1' => nanoseconds(), 'e' => $e::class . ': ' . $e->getMessage()]);
}
$what === 'late' && fgets(STDIN);
