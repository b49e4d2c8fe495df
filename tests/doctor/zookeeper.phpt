--TEST--
dlock-doctor examines ZooKeeper servers: sessions, times, connections, rights
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';
require __DIR__ . '/../inc/doctor.inc';

// One server, with the limits that ZooKeeper has by default.
$single = zk_private(['tickTime' => 2000, 'minSessionTimeout' => 4000, 'maxSessionTimeout' => 40000, 'maxClientCnxns' => 60]);
$hosts = $single->hosts();
finds(['standalone' => 'note'], [$hosts], 'a single server');
finds(['standalone' => 'note'], [json_encode(['host' => '127.0.0.1', 'port' => $single->port]), '--class=ZkLock'], 'a single server, as an array');
$run = new DoctorRun(["$hosts/some/where", '--ignore=standalone']);
holds((bool) preg_match("/^All is well: ZkLock on $hosts, ZooKeeper [\d.]+, round trips from [\d.]+ m?s to [\d.]+ m?s\.\n$/", $run->output), 'one line', $run->output);
finds(['standalone' => 'note'], [$hosts, '--workers=60'], 'enough connections');
finds(['standalone' => 'note', 'maxclientcnxns' => 'warning'], [$hosts, '--workers=61'], 'too few connections');
$texts = finds(['standalone' => 'note', 'session-timeout' => 'warning'], [$hosts, '--ttl=2'], 'a short session');
holds(str_contains($texts['session-timeout'] ?? '', 'gives a session 4 s where 2 s are asked for'), 'a short session', $texts);
$texts = finds(['standalone' => 'note', 'session-timeout' => 'warning'], [$hosts, '--ttl=100'], 'a long session');
holds(str_contains($texts['session-timeout'] ?? '', 'gives a session 40 s where 100 s are asked for'), 'a long session', $texts);
$delayed = relay($hosts, 0.06);
finds(['standalone' => 'note', 'slow' => 'warning'], [$delayed->address()], 'a slow way');

// Which users may do what, in a root that belongs to one user.
$owner = new ZkLock($hosts, auth: 'digest:owner:secret');
$owner->acquire('dlock-doctor')->release();
$zk = $single->raw();
$zk->createPath('/mine');
$zk->auth('digest', 'owner:secret');
$zk->setAcl('/mine', [['perms' => 31, 'scheme' => 'auth', 'id' => '']]);
finds(['standalone' => 'note'], [$hosts, '--root=/mine', '--auth=digest:owner:secret'], 'the owner');
foreach (['nobody' => [], 'somebody else' => ['--auth=digest:other:secret']] as $what => $auth) {
    $texts = finds(['standalone' => 'note', 'rights' => 'problem'], [$hosts, '--root=/mine', ...$auth], $what);
    holds(str_contains($texts['rights'] ?? '', '/mine/dlock-doctor'), "$what: where", $texts);
    holds(!str_contains(implode($texts), 'secret'), "$what: no password is shown", $texts);
    finds(['standalone' => 'note', 'rights' => 'problem'], ["$hosts/mine", '--root=/x', ...$auth], "$what, in a chroot");
}
$zk->close();

// A server that is down, and one that does not answer.
$closed = '127.0.0.1:' . closed_port();
finds(['unreachable' => 'problem'], [$closed], 'a closed port');
finds(['unreachable' => 'warning', 'standalone' => 'note'], ["$hosts,$closed"], 'a closed port beside a server');
$single->pause();
$texts = finds(['unreachable' => 'problem'], [$hosts], 'a stopped server');
holds(str_contains($texts['unreachable'] ?? '', 'does not answer within 5 s'), 'a stopped server', $texts);
$single->resume();

// A server with little room, which grants sessions of less than two ticks.
putenv('JAVA_TOOL_OPTIONS=-Dzookeeper.DigestAuthenticationProvider.superDigest=super:' . base64_encode(sha1('super:secret', true)));
$small = zk_private(['tickTime' => 5000, 'minSessionTimeout' => 6000, 'maxClientCnxns' => 3]);
finds(['ticks' => 'problem', 'standalone' => 'note'], [$small->hosts(), '--ttl=8'], 'less than two ticks');
finds(['standalone' => 'note'], [$small->hosts(), '--ttl=10'], 'two ticks');
$full = array_map(fn () => $small->raw(), range(1, 3));
$texts = finds(['unreachable' => 'problem'], [$small->hosts()], 'a full server');
holds(str_contains($texts['unreachable'] ?? '', 'maxClientCnxns'), 'a full server', $texts);
foreach ($full as $session) {
    $session->close();
}

// Two servers that do not know each other; and one that hides its members.
finds(['not-one-ensemble' => 'problem'], ["$hosts,{$small->hosts()}"], 'two servers, not one ensemble');
$zk = $small->raw();
$zk->auth('digest', 'super:secret');
$zk->setAcl('/zookeeper/config', [['perms' => 31, 'scheme' => 'auth', 'id' => '']]);
finds(['unseen' => 'note'], [$small->hosts()], 'a server that does not tell');
echo "done\n";
?>
--EXPECT--
done
