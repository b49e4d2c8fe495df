--TEST--
Stock: a user with exactly the rights of docs/operations.md can do everything; without any of them the call that needs it fails clearly
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

use Dlock\ConnectionException;
use Dlock\Stock;

$page = file_get_contents(__DIR__ . '/../../docs/operations.md');
preg_match('/^- `Dlock\\\\Semaphore`[^;]* need `([^`]+~Stock:\*[^`]+)`/m', $page, $listed) || exit("docs/operations.md has no list\n");
$rules = preg_split('/\s+/', $listed[1]);
$server = redis_private();
$redis = $server->raw();
$allow = function (array $rules) use ($redis) {
    $redis->cmd('ACL', 'SETUSER', 'locks', 'reset', 'on', '>secret', ...$rules);
    $redis->cmd('SCRIPT', 'FLUSH');
};
$stock = fn () => new Stock('redis://locks:secret@' . $server->address());

/** All calls of a stock. */
$scenario = function () use ($stock, $redis): void {
    $redis->cmd('DEL', 'Stock:shoe', 'Stock:hat');
    $stock = $stock();
    $stock->restock('shoe', 3, 'first');
    $stock->restock('hat', 3);
    $both = $stock->reserve(['shoe' => 1, 'hat' => 1], 'ann', '1');
    $both->extend(700);
    $both->confirm();
    $stock->reserve('shoe', 'bob', '2', ttl: 0.05);
    $held = $stock->reserve('shoe', 'bob', '3');
    pause(0.1);
    same(['state' => 'open', 'available' => 1, 'reserved' => 1, 'sold' => 1, 'waiting' => 0, 'uncertain' => null], $stock->counts('shoe'), 'counts');
    $stock->reserve('shoe', 'cid', '4'); // an order that had ended
    same(null, $stock->reserve('shoe', 'dan', '5', 0.2), 'waited');
    same(true, $held->cancel(), 'given back');
};
$waits = function () use ($stock, $redis): void {
    $redis->cmd('DEL', 'Stock:shoe');
    $held = (function () use ($stock) {
        $stock()->restock('shoe', 1);
        return $stock()->reserve('shoe', 'ann', '1');
    })();
    $waiter = fork_child(fn () => $stock()->reserve('shoe', 'bob', '1', 20)?->buyer);
    wait_for(fn () => $stock()->counts('shoe')['waiting'] === 1, 60, 'it to wait');
    $held->cancel();
    same('bob', $waiter->result(), 'told');
};

$allow($rules);
same(null, thrown_by($scenario), 'with these rights');
same(null, thrown_by($waits), 'waiting with these rights');
same([], $redis->cmd('ACL', 'LOG'), 'nothing was refused');
// This right is rarely needed: if some of the units that the first waiter wants are available.
foreach (['+zmscore', '+zrangebyscore', '+zcount', '+zincrby', '+persist'] as $right) {
    $allow(array_diff($rules, [$right]));
    $redis->cmd('ACL', 'LOG', 'RESET');
    $e = thrown_by($scenario) ?? thrown_by($waits);
    holds($redis->cmd('ACL', 'LOG') !== [] && ($e === null || $e instanceof ConnectionException), "without $right", $e?->getMessage());
    holds($e === null || str_contains($e->getMessage(), 'docs/operations.md lists'), "without $right, the message helps", $e?->getMessage());
}
$allow(array_diff($rules, ['~Stock:*']));
fails(ConnectionException::class, '*docs/operations.md lists', fn () => $stock()->counts('shoe'), 'without the keys');
echo "done\n";
?>
--EXPECT--
done
