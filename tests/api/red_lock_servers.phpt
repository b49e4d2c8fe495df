--TEST--
RedLock accepts 1 to 64 different servers
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--INI--
dlock.restart_guard=0
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$where = 'RedLock::__construct(): Argument #1 ($servers) must';
$list = fn (int $n) => array_map(fn ($i) => "redis://127.0.0.1:$i", range(1, $n));

fails(ValueError::class, "$where be a list of 1 to 64 servers", fn () => new RedLock([]));
fails(ValueError::class, "$where be a list of 1 to 64 servers", fn () => new RedLock($list(65)));
fails(ValueError::class, "$where be a list of 1 to 64 servers", fn () => new RedLock($list(1000)));

// 33 of 64 are a quorum: of 64 names of one machine, 33 belong to a server.
$server = redis_private(['bind 0.0.0.0', 'protected-mode no']);
$names = array_map(fn ($i) => ["127.0.0.$i", $i <= 33 ? $server->port : 1], range(1, 64));
$red = new RedLock($names, 1, 2);
$lock = $red->lock('many', 60_000);
same('many', $lock['resource'] ?? null, 'lock() with 33 of 64');
same($lock['token'], $server->raw()->cmd('GET', 'many'), 'the key');
$server->raw()->cmd('DEL', 'many');
$names[0][1] = 1;
$red = new RedLock($names, 1, 2);
same(false, $red->lock('many', 60_000), 'lock() with 32 of 64');
$e = thrown_by(fn () => $red->tryAcquire('many'));
same(Dlock\QuorumException::class, get_debug_type($e), 'tryAcquire() with 32 of 64');
same(32, count($e->getServerErrors()), 'how many have a reason');
holds((bool) preg_match('/^\d+ of 64 servers failed \(quorum 33\): Redis at 127\.0\.0\.1:1: Connection refused; /', $e->getMessage()), 'the message', $e->getMessage());

// A server that is listed twice would have two votes.
foreach ([
    'redis://h:1/0' => ['redis://h:1', 'redis://h:2', 'redis://h:1/0'],
    'another database' => ['redis://h:1', 'redis://h:2', 'redis://h:1/3'],
    'a password' => ['redis://h:1', 'redis://h:2', 'redis://:secret@h:1'],
    'a list' => ['redis://h:1', 'redis://h:2', ['h', 1]],
    'an array' => ['redis://h:1', 'redis://h:2', ['host' => 'h', 'port' => 1]],
] as $what => $servers) {
    fails(ValueError::class, "$where name different servers, but elements 0 and 2 are both h:1", fn () => new RedLock($servers), $what);
}
fails(ValueError::class, "$where name different servers, but elements 0 and 1 are both /run/r.sock",
    fn () => new RedLock(['unix:///run/r.sock', '/run/r.sock' => ['/run/r.sock']]));
fails(ValueError::class, "$where name different servers, but elements 0 and 1 are both h:6379", fn () => new RedLock(['redis://h', ['h']]));
// The case of a host makes no difference, that of a path does.
fails(ValueError::class, "$where name different servers, but elements 0 and 1 are both redis1.test:6379", fn () => new RedLock(['redis://redis1.test', ['Redis1.TEST']]));
fails(ValueError::class, "$where name different servers, but elements 0 and 1 are both [fe80::a]:6379", fn () => new RedLock(['redis://[fe80::a]', 'redis://[FE80::A]']));
same(null, thrown_by(fn () => new RedLock(['unix:///run/r.sock', 'unix:///run/R.sock'])), 'two paths');

// Keys of the list do not matter, and a list may mix all forms.
[$host, $port] = explode(':', redis_addresses()[1]);
$red = new RedLock(['a' => redis_server(0), 7 => [$host, (int) $port, 0.5], 'c' => ['host' => '127.0.0.1', 'port' => (int) explode(':', redis_addresses()[2])[1]],
    'unix://' . redis_socket(), ['host' => explode(':', test_env('DLOCK_TEST_REDIS_AUTH'))[0],
        'port' => (int) explode(':', test_env('DLOCK_TEST_REDIS_AUTH'))[1], 'auth' => ['app', redis_password()]]]);
$resource = unique();
$lock = $red->lock($resource, 60_000);
foreach ([redis_raw(0), redis_raw(1), redis_raw(2), redis_raw(5), new RedisRaw(test_env('DLOCK_TEST_REDIS_AUTH'), redis_password(), 'app')] as $i => $redis) {
    // A new connection may be slower than the quorum. Every later call continues what is under way.
    wait_for(fn () => $red->isLocked($resource) && $redis->cmd('GET', $resource) === $lock['token'], 60, "the key on server $i");
}
same(true, $red->unlock($lock), 'unlock()');
echo "done\n";
?>
--EXPECT--
done
