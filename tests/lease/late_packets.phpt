--TEST--
A request that the client gave up, and that the system still tries to deliver, does not arrive after a later one
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_networks('nft');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/handover.inc';
require __DIR__ . '/../inc/cable.inc';

$cable = new Cable();
$resource = unique();
$cable->host('
    $lease = (new DistributedLock("redis://$argv[1]?read_timeout=0.4&connect_timeout=20", renew: false))->acquire($argv[2], 0, 60);
    $try = function (float $ttl) use ($lease) {
        try {
            $lease->refresh($ttl);
            printf("%d\n", $lease->remaining());
        } catch (Throwable $e) {
            echo get_class($e), "\n";
        }
    };
    echo "held\n";
    fgets(STDIN);
    $try(5);
    fgets(STDIN);
    $try(60);
    fgets(STDIN);
    echo $lease->detach(), "\n";
', Cable::ADDRESS, $resource);
$left = fn () => $cable->redis->cmd('PTTL', Locks::key($resource));
same('held', $cable->hear(), 'acquired');
// No packet over this connection arrives. The host's system repeats it after 0.2 s, 0.6 s, 1.4 s, 3 s.
preg_match('/^id=.* addr=' . preg_quote(Cable::HOST) . ':(\d+) /m', $cable->redis->cmd('CLIENT', 'LIST'), $client);
$cable->at_server('nft add table ip lossy');
$cable->at_server("nft add chain ip lossy input '{ type filter hook input priority 0; }'");
$cable->at_server("nft add rule ip lossy input tcp sport $client[1] drop");
$cable->say('a shorter time');
same('Dlock\ConnectionException', $cable->hear(), 'no answer');
$cable->say('the full time');
holds(in_array((int) $cable->hear(), [3, 4], true), 'the shorter one may come yet: no more is sure');
holds($left() > 50_000, 'the full time is set');
$cable->at_server('nft delete table ip lossy');
$until = now() + 3.5; // the system tries twice
wait_for(fn () => $left() <= 5_000 || now() > $until, 60, 'nothing');
holds($left() > 40_000, 'the shorter one has not come', $left());
$cable->say('hand it over');
$lease = (new DistributedLock($cable->dsn))->attach($cable->hear());
within(40, $lease->remaining(), 60, 'nor can it come for who takes it up, whose token it does not name');
same(true, $lease->release(), 'release()');
$cable->kill_host();
echo "done\n";
?>
--EXPECT--
done
