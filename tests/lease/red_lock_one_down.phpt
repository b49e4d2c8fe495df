--TEST--
RedLock with one server down: renewal, refresh() and attach() find out that both others lost the lease, in whatever order they answer
--INI--
; Of servers that have just been started all have to say yes; here a majority is enough.
dlock.restart_guard=0
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/lease.inc';

use Dlock\LeaseLostException;

$ttl = 30.0;
$locks = private_locks('RedLock', 2);
$relay = relay($locks->addresses[0], 0.2); // its answer comes alone
$down = '127.0.0.1:' . closed_port();
$behind = new Locks('RedLock', [$relay->address(), $locks->addresses[1], $down]);
$red = $behind->manager();

// ---- renewal ----
$start = now();
$lease = $red->acquire('renewed', 0);
$short = $behind->manager(ttl: $ttl)->acquire('short', 0);
take_away($locks, 'short', 'delete', [0, 1]);
wait_for(fn () => !$short->isHeld(), 60, 'the loss');
within(0, now() - $start, 0.8 * $ttl, 'seconds until it is known; it is due after a third of the lease time');

// ---- refresh(), attach() ----
take_away($locks, 'renewed', 'steal', [0, 1]);
fails(LeaseLostException::class, '*', fn () => $lease->refresh(), 'refresh()');
$handle = $red->acquire('handed', 0, 100)->detach();
same(true, $red->attach($handle)->release(), 'attach()');
fails(LeaseLostException::class, '*', fn () => $red->attach($handle), 'attach() of a used handle');
echo "done\n";
?>
--EXPECT--
done
