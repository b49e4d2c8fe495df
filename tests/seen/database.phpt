--TEST--
The command dlock on databases: show, watch, wait, run, break; that they have no list is said
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
require __DIR__ . '/../inc/seen.inc';

foreach (private_databases() as $kind => $server) {
    $dsn = $server->dsn('create=1&guard=300&connect_timeout=60&read_timeout=60');
    $dlock = fn (string ...$arguments) => dlock(["--server=$dsn", ...$arguments]);
    $make = fn () => new DistributedLock($dsn, ttl: 100);
    $locks = $make();
    same(1, $dlock('show', 'r')->status, "$kind: show of a free lock");
    $claimants = $pids = [];
    foreach (['order 17', 'GET /cart', 'ü'] as $i => $label) {
        $claimants[] = $claimant = claimant($make, 'r', $label);
        $pids[] = $claimant->hear();
        wait_for_parties($locks, 'r', 1, $i);
    }
    $token = $claimants[0]->hear();

    $run = $dlock('show', 'r', '--json');
    $shown = json_decode($run->output, true);
    same([0, '', array_slice($pids, 1), 2], [$run->status, $run->errors, array_column($shown['waiters'], 'pid'), $shown['waiting']], "$kind: show");
    $id = substr($token, 0, 24);
    same([$id, $pids[0], $server->grant('Lock:r')['fence']], [$shown['holders'][0]['id'], $shown['holders'][0]['pid'], $shown['holders'][0]['fencingToken']], "$kind: the holder");
    $text = $dlock('show', 'r')->output . $dlock('watch', 'r', '--count=1')->output;
    foreach (['GET /cart', 'ü', "pid $pids[0]"] as $word) {
        holds(str_contains($text, $word), "$kind: shown: $word", $text);
    }
    hides([PrivateDatabase::PASSWORD, $token], $text . $run->output, "$kind: what is shown");
    same(1, $dlock('wait', 'r', '--timeout=0')->status, "$kind: wait, not free");

    // Broken: its holder can neither renew nor free it; then at once, for the next one.
    same([3, $token], [$dlock('break', 'r', '--id=' . strrev($id))->status, $server->token('Lock:r')], "$kind: break of another holder");
    $run = $dlock('break', 'r', "--id=$id");
    same([0, true], [$run->status, str_contains($run->output, 'it is free in ')], "$kind: break");
    holds(str_contains($dlock('show', 'r')->output, 'broken by '), "$kind: show of a lock that was broken");
    $claimants[0]->say('go');
    $claimants[0]->result();
    same(true, $locks->isLocked('r'), "$kind: after its holder's release()");
    $run = $dlock('break', 'r', "--id=$id", '--now', '--yes');
    same([0, "broken and given on\n"], [$run->status, $run->output], "$kind: break --now");
    foreach ([1, 2] as $i) {
        holds($claimants[$i]->hear() !== $token, "$kind: the next holder");
        $claimants[$i]->say('go');
        $claimants[$i]->result();
    }

    $run = $dlock('run', 'r', '--', 'sh', '-c', 'echo out; exit 7');
    same([7, "out\n"], [$run->status, $run->output], "$kind: run");
    same(0, $dlock('wait', 'r')->status, "$kind: wait");
    foreach (['ls', 'metrics'] as $command) {
        $run = $dlock($command);
        same([4, "dlock: It cannot be seen which locks are held with the back end \"$kind\"\n"], [$run->status, $run->errors], "$kind: $command");
    }
    $run = dlock(['--server=' . str_replace((string) $server->port, (string) closed_port(), $dsn), 'show', 'r']);
    same(4, $run->status, "$kind: not reached");
    hides([PrivateDatabase::PASSWORD, rawurlencode(PrivateDatabase::PASSWORD)], $run->output . $run->errors, "$kind: not reached");
}
echo "done\n";
?>
--EXPECT--
done
