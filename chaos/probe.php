<?php
/* Looks from outside, after the faults, whether locks can be had.
 *
 *   php probe.php CONFIG      JSON: class, servers, resource, what
 *
 * "free": takes the lock and releases it. "after a dead holder": waits for it while its holder is killed. "late": takes it
 * for a long time, releases it, and stays. Prints JSON: from when, until when, whether it was had. */
declare(strict_types=1);

require __DIR__ . '/inc/journal.php';
require __DIR__ . '/inc/setting.php';

function say(array $entry): void
{
    echo json_encode($entry), "\n";
}

['class' => $class, 'servers' => $servers, 'resource' => $resource, 'what' => $what] = json_decode($argv[1], true, flags: JSON_THROW_ON_ERROR);
$from = nanoseconds();
if ($what === 'after a dead holder') {
    [$mine, $its] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    if (pcntl_fork() === 0) {
        $lease = Setting::manager($class, $servers, Setting::LONGEST_TTL)->acquire($resource, 30.0);
        fwrite($its, "held\n");
        usleep(500_000);
        fwrite($its, nanoseconds() . "\n");
        posix_kill(getmypid(), SIGKILL);
    }
    fclose($its);
    fgets($mine);
}
if ($what === 'late') {
    ini_set('dlock.restart_guard', '0'); // the servers may have been restarted within its 60 s, which is not what this is about
}
try {
    // A lease that is renewed is released everywhere, whoever has answered.
    $lease = Setting::manager($class, $servers, Setting::LONGEST_TTL)->acquire($resource, 30.0, $what === 'late' ? 60.0 : null);
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
