--TEST--
dlock-doctor finds nothing wrong with Redis servers that are configured well, and leaves nothing behind
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/doctor.inc';

$kept = redis_private(['appendonly yes', 'appendfsync always', 'unixsocket redis.sock']);
finds([], [$kept->dsn(), '--workers=1000'], 'DistributedLock');
finds([], ["unix://$kept->dir/redis.sock?db=3"], 'by a socket');
finds([], ["REDIS://LocalHost:$kept->port"], 'a name in capitals');
same(['dlock:fence'], what_stays($kept->raw()), 'what is left');
$run = new DoctorRun([$kept->dsn()]);
holds((bool) preg_match('/^All is well: DistributedLock on ' . $kept->address() . ', Redis [\d.]+, round trips from [\d.]+ m?s to [\d.]+ m?s\.\n$/', $run->output),
    'one line', $run->output);
same(0, $run->status, 'exit status');
finds([], [], 'the server of the settings', '-d dlock.server=' . $kept->dsn());

// Servers without persistence: the restart guard protects them. They have addresses of their own, like machines.
$set = $dsns = [];
foreach ([2, 3, 4] as $i) {
    $set[] = $server = redis_private(["bind 127.0.0.1 127.0.0.$i"]);
    $dsns[] = "redis://127.0.0.$i:$server->port";
}
finds([], $dsns, 'RedLock');
foreach ($set as $i => $server) {
    same(['dlock:fence'], what_stays($server->raw()), "what is left on server $i");
}
same(0, (new DoctorRun($dsns))->status, 'exit status of RedLock');

// The user of docs/operations.md. The doctor says what that user may not see, as a note.
preg_match('/^ACL SETUSER locks on >s3cret resetkeys resetchannels (.*)$/m', file_get_contents(__DIR__ . '/../../docs/operations.md'), $listed)
    || exit("docs/operations.md has no list\n");
$rules = explode(' ', $listed[1]);
foreach ($set as $server) {
    $server->raw()->cmd('ACL', 'SETUSER', 'locks', 'reset', 'on', '>secret', ...$rules, ...['+info', '+select']);
}
$restricted = array_map(fn (string $dsn) => str_replace('//', '//locks:secret@', $dsn), $dsns);
finds(['unseen' => 'note'], ['--prefix=Lock:', ...$restricted], 'a restricted user');
$set[0]->raw()->cmd('ACL', 'SETUSER', 'locks', '-info');
finds(['unseen' => 'note'], ["$restricted[0]/2"], 'a restricted user of DistributedLock');

// A user that lacks a right is told the same list.
$set[0]->raw()->cmd('ACL', 'SETUSER', 'locks', '-zadd', '+info');
$texts = finds(['persistence' => 'warning', 'rights' => 'problem', 'unseen' => 'note'], ["$restricted[0]/2"], 'without zadd');
preg_match('/A user needs: (.*?);/', $texts['rights'] ?? '', $told);
$told = explode(' ', $told[1] ?? '');
sort($told);
$rules = [...array_diff($rules, ['-@all']), '+select'];
sort($rules);
same($rules, $told, 'what a user needs');
echo "done\n";
?>
--EXPECT--
done
