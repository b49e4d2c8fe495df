--TEST--
Databases: writes that assert their token commit in the order of tokens, and holders never overlap, while processes are stopped and killed, leases expire, locks are broken, sessions are ended and connections are cut
--EXTENSIONS--
pdo
mysqlnd
pdo_mysql
pdo_pgsql
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_databases();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/database.inc';

/* DLOCK_TEST_FAULT_SECONDS=600 makes the test longer. DLOCK_TEST_FAULT_REPORT=FILE names a file for the counts. With
   DLOCK_TEST_FAULT_ASSERT=0 the writers do not assert, and the test must find late writes. */
$seconds = amount('DLOCK_TEST_FAULT_SECONDS', 6);
$asserts = amount('DLOCK_TEST_FAULT_ASSERT', 1) > 0;

/** Acquires, is too slow now and then, and writes. */
function write_under_lock(PrivateDatabase $server, string $dsn, bool $asserts, string $log): never
{
    $locks = new DistributedLock($dsn, ttl: 0.4, renew: random_int(0, 2) === 0);
    while (true) {
        try {
            $pdo = $server->pdo();
            for (;;) {
                $lease = $locks->tryAcquire('order', random_int(0, 4) === 0 ? 0.05 : 0.0);
                if ($lease === null) {
                    pause(0.03);
                    continue;
                }
                $from = now();
                file_put_contents("$log.all", '.', FILE_APPEND | LOCK_EX);
                $lag = random_int(0, 4) === 0 ? 0.6 : 0.001; // now and then longer than the lease
                random_int(0, 1) ? pause($lag) : null;
                $pdo->beginTransaction();
                try {
                    $asserts && $server->assert($pdo, 'Lock:order', $lease->fencingToken);
                    random_int(0, 1) ? pause($lag) : null; // after assert(), no other client is granted the lock
                    $pdo->exec("UPDATE journal SET late = late + CASE WHEN last > $lease->fencingToken THEN 1 ELSE 0 END, writes = writes + 1, last = $lease->fencingToken");
                    $pdo->commit();
                } catch (PDOException $e) {
                    $pdo->rollBack();
                    $pdo->exec('UPDATE journal SET refused = refused + 1');
                }
                $until = now();
                $lease->isHeld() && file_put_contents($log, "$lease->fencingToken $from $until\n", FILE_APPEND | LOCK_EX);
                try {
                    $lease->release();
                } catch (Dlock\DlockException) {
                }
            }
        } catch (PDOException | Dlock\DlockException) {
            pause(0.03);
        }
    }
}

foreach (private_databases() as $kind => $server) {
    $locks = new DistributedLock($server->dsn('create=1&connect_timeout=60&read_timeout=60'));
    $locks->isLocked('order'); // creates the tables
    $server->query('CREATE TABLE journal (last BIGINT, late BIGINT, writes BIGINT, refused BIGINT)');
    $server->query('INSERT INTO journal VALUES (0, 0, 0, 0)');
    $journal = fn () => array_map('intval', $server->query('SELECT late, writes, refused FROM journal')[0]);
    $relay = relay($server->address());
    $dsn = str_replace($server->address(), $relay->address(), $server->dsn('read_timeout=5&connect_timeout=5'));
    $log = temporary_directory() . "/held";
    $faults = ['kills' => 0, 'stops' => 0, 'ended sessions' => 0, 'cuts' => 0, 'breaks' => 0];
    $workers = [];
    $until = now() + $seconds;
    while (now() < $until || ($journal()['writes'] === 0 && now() < $until + 60)) {
        while (count($workers) < 6) {
            $worker = fork_child(fn () => write_under_lock($server, $dsn, $asserts, $log), [], 'kill');
            at_end($worker->kill(...));
            $workers[] = $worker;
        }
        pause(random_int(50, 300) / 1000);
        $one = $workers[$i = array_rand($workers)];
        switch (random_int(0, 4)) {
            case 0:
                $faults['kills']++;
                $one->kill();
                array_splice($workers, $i, 1);
                break;
            case 1:
                $faults['stops']++;
                $one->signal(SIGSTOP);
                pause(random_int(1, 7) / 10);
                $one->signal(SIGCONT);
                break;
            case 2:
                try {
                    $sessions = $server->sessions();
                    $sessions === [] || $server->endSession($sessions[array_rand($sessions)]);
                    $faults['ended sessions'] += $sessions === [] ? 0 : 1;
                } catch (PDOException $e) { // has the server crashed?
                    throw new RuntimeException($e->getMessage() . "\n" . substr(file_get_contents("$server->dir/log"), -20_000), 0, $e);
                }
                break;
            case 3:
                $faults['cuts']++;
                $relay->order(0, ['cut' => true]);
                break;
            case 4: // as "dlock break" does
                try {
                    $holder = $locks->inspect('order', 0)->holders[0] ?? null;
                    $faults['breaks'] += $holder && Dlock\break_lock($locks, 'order', $holder->id, 'faults') !== null ? 1 : 0;
                } catch (Dlock\DlockException) { // its own session has ended
                }
        }
    }
    array_map(fn ($worker) => $worker->kill(), $workers);
    $journal = $journal();
    // Holders by their fencing tokens. A holder believed in its lease from the answer to its acquisition to its last
    // check.
    $held = array_map(fn ($line) => explode(' ', $line), file($log, FILE_IGNORE_NEW_LINES) ?: []);
    usort($held, fn ($a, $b) => (float) $a[1] <=> (float) $b[1]);
    $overlaps = 0;
    foreach (array_slice($held, 1) as $i => [$fence, $from]) {
        $overlaps += (float) $from < (float) $held[$i][2] || (int) $fence <= (int) $held[$i][0] ? 1 : 0;
    }
    same(0, $overlaps, "$kind: holders that overlap");
    same(0, $journal['late'], "$kind: late writes that were committed");
    holds($journal['writes'] > 0 && ($seconds < 60 || $journal['refused'] > 0), "$kind: writes were made, and in a long run late ones refused", $journal);
    $report = getenv('DLOCK_TEST_FAULT_REPORT');
    $report && file_put_contents($report, "$kind: " . json_encode(['acquired' => filesize("$log.all"), 'held to the end' => count($held), 'overlaps' => $overlaps] + $journal + $faults) . "\n", FILE_APPEND);
}
echo "done\n";
?>
--EXPECT--
done
