--TEST--
Beyond 128, connections that no lock uses are closed: changing passwords leave none behind
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_fpm();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$server = redis_private();
for ($i = 0; $i < 300; $i++) {
    $server->raw()->cmd('ACL', 'SETUSER', "u$i", 'on', ">p$i", '~*', '&*', '+@all');
}
$fpm = fpm_start([], 1);
$script = $fpm->script('rotated', '
    $address = $_GET["address"];
    $kept = new DistributedLock("redis://u0:p0@$address");
    $lease = $kept->acquire("kept", 0, 1000);
    for ($i = 1; $i < 300; $i++) {
        (new DistributedLock("redis://u$i:p$i@$address"))->acquire("other")->release();
    }
    $before = Dlock\stats()["connections"];
    echo json_encode([$lease->isHeld() && $lease->release(), Dlock\stats()["connections"] - $before, $before]);
');
foreach ([1, 2] as $request) {
    [$released, $more, $opened] = json_decode($fpm->request($script, ['address' => $server->address()]));
    same([true, 0], [$released, $more], "request $request: the connection of a lock that is there has stayed open");
    same(true, $opened >= 300 * $request - 130 * ($request - 1), "request $request: what was opened counts, though it is freed ($opened)");
    $users = array_filter(explode("\n", $server->raw()->cmd('CLIENT', 'LIST')), fn (string $line) => preg_match('/ user=u\d/', $line));
    within(128, count($users), 130, "request $request: connections of users");
}
echo "done\n";
?>
--EXPECT--
done
