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
$cable->host('
    $do = function (callable $what) {
        try {
            echo $what(), "\n";
        } catch (Throwable $e) {
            echo get_class($e), "\n";
        }
        fgets(STDIN);
    };
    for ($attempt = 1; ; $attempt++) { // with another time limit: over another connection
        $locks = new DistributedLock("redis://$argv[1]?read_timeout=0.4$attempt&connect_timeout=60", renew: false);
        $do(fn () => ($GLOBALS["lease"] = $locks->acquire("$argv[2]-$attempt", 0, 600))->isHeld() ? "held" : "not held");
        $do(fn () => $lease->refresh(5));
        $do(fn () => $lease->refresh(600) ?? (int) $lease->remaining());
        $do(fn () => $lease->detach());
    }
', Cable::ADDRESS, unique());
// Again if the machine stood still, and another answer came too late.
for ($attempt = 1; ; $attempt++) {
    $left = fn () => $cable->redis->cmd('PTTL', Locks::key(unique() . "-$attempt"));
    $acquired = $cable->hear(60);
    // No packet over this connection arrives. The host's system repeats it after 0.2 s, 0.6 s, 1.4 s, 3 s.
    preg_match_all('/^id=.* addr=' . preg_quote(Cable::HOST) . ':(\d+) /m', $cable->redis->cmd('CLIENT', 'LIST'), $clients);
    $cable->at_server('nft add table ip lossy');
    $cable->at_server("nft add chain ip lossy input '{ type filter hook input priority 0; }'");
    $clients[1] && $cable->at_server('nft add rule ip lossy input tcp sport ' . end($clients[1]) . ' drop');
    $cable->say('a shorter time');
    $shorter = $cable->hear(60);
    $cable->say('the full time');
    $full = $cable->hear(60);
    if (($acquired === 'held' && in_array($full, ['1', '2', '3', '4'], true)) || $attempt === 10) {
        break;
    }
    $cable->say('go on');
    $cable->hear(60);
    $cable->at_server('nft delete table ip lossy');
    $cable->say('again');
}
same(['held', 'Dlock\ConnectionException'], [$acquired, $shorter], 'acquired, and no answer to the shorter time');
holds(in_array($full, ['1', '2', '3', '4'], true), 'the shorter one may come yet: no more is sure', $full);
holds($left() > 300_000, 'the full time is set');
$cable->at_server('nft delete table ip lossy');
$until = now() + 3.5; // the system tries twice
wait_for(fn () => $left() <= 5_000 || now() > $until, 60, 'nothing');
holds($left() > 300_000, 'the shorter one has not come', $left());
$cable->say('hand it over');
$lease = (new DistributedLock($cable->dsn))->attach($cable->hear(60));
within(300, $lease->remaining(), 600, 'nor can it come for who takes it up, whose token it does not name');
same(true, $lease->release(), 'release()');
$cable->kill_host();
echo "done\n";
?>
--EXPECT--
done
