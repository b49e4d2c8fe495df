--TEST--
onLoss: "throw": a loss that comes together with a signal whose handler exits is not thrown any more
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_alarm');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/lease.inc';

// Both are there when the call returns, and the handler comes first.
$code = <<<'CODE'
pcntl_async_signals(true);
pcntl_signal(SIGALRM, function () {
    echo "the handler\n";
    exit(3);
});
$lease = $locks->manager(onLoss: 'throw')->acquire($resource, 0, 0.1);
pcntl_alarm(1);
block();
echo "not left\n";
CODE;
foreach (renewed_locks() as $name => $locks) {
    $child = lease_child($code, $locks, unique($name));
    same(["the handler\n", 3], [$child->readAll(), $child->wait()], $name);
}
echo "done\n";
?>
--EXPECT--
done
