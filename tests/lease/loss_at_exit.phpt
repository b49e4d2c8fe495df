--TEST--
onLoss: "throw": if a loss comes together with a signal whose handler exits, the loss is not thrown any more
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_alarm');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/lease.inc';

// Both are pending when the call returns, and the handler runs first.
$code = <<<'CODE'
pcntl_async_signals(true);
pcntl_signal(SIGALRM, function () {
    echo "the handler\n";
    exit(3);
});
for ($attempt = 0; $attempt < 20; $attempt++) { // a machine that stands still may be told before the call
    try {
        $lease = $locks->manager(onLoss: 'throw')->acquire("$resource-$attempt", 60, 2);
        pcntl_alarm(4);
        wait_for_signal();
    } catch (Dlock\LeaseLostException | Dlock\ConnectionException) {
    }
}
CODE;
foreach (renewed_locks_and_pools() as $name => $locks) {
    $children[$name] = lease_child($code, $locks, unique($name));
}
foreach ($children as $name => $child) {
    same(["the handler\n", 3], [$child->readAll(), $child->wait()], $name);
}
echo "done\n";
?>
--EXPECT--
done
