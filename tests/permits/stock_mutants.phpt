--TEST--
The random check of stocks finds each of these mistakes in the scripts
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/stock_walk.inc';

$mistakes = [
    // An ended reservation holds nothing, and its order may buy as long as units are free.
    'what has ended holds its units' => ['stock_pool.lua' => ['stock.used = stock.used - freed' => 'stock.used = stock.used - 0']],
    'what has ended counts against the limit' => ['stock_pool.lua' => ['credit(stock.pool, buyer_of(string.sub(names[i], 2)), units_of(units[i]))' => '']],
    'what is reserved is swept before its end' => ['stock_pool.lua' => ["string.format('(%.0f', stock.now), 'WITHSCORES', 'LIMIT', 0, most" => "string.format('(%.0f', stock.now + 20), 'WITHSCORES', 'LIMIT', 0, most"]],
    'a late payment without units' => ['stock_confirm.lua' => ['if not room then' => 'if false then']],
    'a late payment above the limit' => ['stock_confirm.lua' => ['if not may then' => 'if false then']],
    'a late payment after the end of the sale' => ['stock_confirm.lua' => ['if stock.closed > 1 then' => 'if false then']],
    'a late payment behind those that wait' => ['stock_confirm.lua' => ['refusal[1] == -2 and refusal or serve_each' => 'serve_each']],
    'a late payment that does not count for the buyer' => ['stock_confirm.lua' => ["redis.call('ZINCRBY', stock.pool, units" => "redis.call('ZINCRBY', stock.pool, 0"]],
    'a late extension' => ['stock_extend.lua' => ["		or (score >= ENDED and 1)\n" => '', '(score >= SOLD and 7)' => '(score >= SOLD and score < ENDED and 7)']],
    'an end that depends on being swept' => ['stock_pool.lua' => ['if score > 0 and score < SOLD and score < stock.now then' => 'if false then']],
    // Each counts once.
    'a confirm that is counted twice' => ['stock_confirm.lua' => ['	if score < SOLD or score >= ENDED then' => '	if true then']],
    'a confirm that leaves the units reserved' => ['stock_confirm.lua' => ["redis.call('ZADD', pool, used - units, '\$used', (sold" => "redis.call('ZADD', pool, (sold"]],
    'a cancellation of what was bought' => ['stock_cancel.lua' => ['stock.score >= SOLD and stock.score < ENDED and 7' => 'false and 7']],
    'a cancellation without its units' => ['stock_pool.lua' => ["	stock.used = stock.used - units\n" => '']],
    'a change of the stock that is made twice' => ['stock_restock.lua' => ['if made then' => 'if false then']],
    'a reserved unit that is taken out' => ['stock_restock.lua' => ['math.max(change, -math.max(0, free(stock)))' => 'change']],
    'a refund that keeps the buyer at the limit' => ['stock_refund.lua' => ['credit(stock.pool, buyer_of(id), stock.back)' => '']],
    'a refund of a part that is made twice' => ['stock_refund.lua' => ['if before then' => 'if false then']],
    'a refund of what is not bought' => ['stock_refund.lua' => ['stock.score >= ENDED and (stock.score < REFUNDED or made)' => 'stock.score >= ENDED and (stock.score < ENDED or made)']],
    'a repeated order that is renewed for ever' => ['stock_reserve.lua' => ['if score < SOLD and ticket > 0 then' => 'if score < SOLD then']],
    // Which order it is.
    'any generation is confirmed' => ['stock_confirm.lua' => ['generation and generation_of(stock.score) ~= generation then' => 'false then']],
    'any generation is cancelled' => ['stock_cancel.lua' => ['(stock.score > 0 and generation and generation_of(stock.score) ~= generation and 4)' => '(false and 4)']],
    'a name that is reserved anew as the same order' => ['stock_pool.lua' => ['(generation_of(was) + 1) % 64' => 'generation_of(was)']],
    'a part of a basket is bought' => ['stock_confirm.lua' => ['elseif signature ~= products then' => 'elseif false then', "(signature or '') == products" => 'true']],
    'another number of units is the same order' => ['stock_reserve.lua' => ["if units ~= wants or products ~= '' then" => 'if false then']],
    'the generation of another waiter' => ['stock_queue.lua' => ['stock.mine, stock.generation = stock.fence, generation' => 'stock.mine = stock.fence', "		local generation = take(stock," => "		stock.generation = take(stock,"]],
    'orders that are forgotten too early' => ['stock_pool.lua' => ['REMEMBER = 3000, 3000, 86400000' => 'REMEMBER = 3000, 3000, 86400']],
    'sold orders that are forgotten' => ['stock_pool.lua' => ['ipairs({ ENDED, CANCELLED })' => 'ipairs({ ENDED, CANCELLED, SOLD })']],
    // Limits, the sale, baskets, changes.
    'a limit that is not kept' => ['stock_reserve.lua' => ['(has or 0) + wants <= tonumber(ARGV[4])' => 'true']],
    'a limit that is not kept in the queue' => ['stock_queue.lua' => ["		and is_allowed(stock, buyer_of(id), units, limit)\n" => '']],
    'a limit that a waiter of the same buyer gets round' => ['stock_basket.lua' => ["	local may, has, again = is_allowed(stock, buyer, stock.wants, limit)\n" => '', '	is_allowed(stock, buyer, stock.wants, limit)' => '	local may, has, again = is_allowed(stock, buyer, stock.wants, limit)']],
    'a closed sale that goes on' => ['stock_reserve.lua' => ['if not had and not queue and not closed and not shift and used then' => 'if not had and not queue and not shift and used then']],
    'an ended sale that is opened again' => ['stock_sale.lua' => ['if stock.closed == 2 or not' => 'if not']],
    'a basket without its units' => ['stock_basket.lua' => ['if not room or not lets_pass' => 'if not lets_pass']],
    'a change without its units' => ['stock_change.lua' => ['elseif not room or not lets_pass' => 'elseif not lets_pass']],
    // Those that wait.
    'overtaking by those who come' => ['stock_reserve.lua' => ['if room and lets_pass(stock) then' => 'if room then']],
    'overtaking by a basket' => ['stock_basket.lua' => ['if not room or not lets_pass(stock) then' => 'if not room then']],
    'overtaking of a strict waiter' => ['stock_queue.lua' => ["return false, strict ~= ''\n		end\n		live, may" => "return false, false\n		end\n		live, may"]],
    'a strict waiter that newcomers pass' => ['stock_queue.lua' => [' and first_strict(stock) == math.huge' => '']],
    'a strict waiter that is passed by those behind it' => ['stock_queue.lua' => ['tickets[waiters[#waiters]] > last do' => 'false do']],
    'a waiter that keeps all others waiting' => ['stock_queue.lua' => ["return false, strict ~= ''\n		end\n		live, may" => "return false, true\n		end\n		live, may"]],
    'a waiter that is forgotten by a cancellation' => ['stock_cancel.lua' => ["	serve(stock)\n	if stock.left then" => '	if stock.left then']],
    'a waiter that is forgotten by one that leaves' => ['stock_leave.lua' => ["serve(stock)\nnote_queue" => 'note_queue']],
    'a waiter that is forgotten when units come' => ['stock_restock.lua' => ['serve(stock, change < 0)' => '']],
    'a waiter that is forgotten by what is swept' => ['stock_counts.lua' => ['	serve(stock)' => '']],
    'a waiter behind those that do not fit' => ['stock_queue.lua' => ['			serve_all(stock, fitting(stock), me, ttl)' => '']],
    'a queue without its mark' => ['stock_queue.lua' => ["redis.call('ZREM', stock.pool, '\$queue')" => '']],
    'a withdrawn waiter that is served' => ['stock_queue.lua' => ['score >= CANCELLED and behind(score) > ticket' => 'false']],
    'a grant after the last sign of life' => ['stock_queue.lua' => ['math.floor(-(sign or 0) / 1000) < STALE' => 'math.floor(-(sign or 0) / 1000) < 2 * STALE']],
    'a waiter that loses its place' => ['stock_reserve.lua' => ['	if ticket == 0 then' => '	if true then', "local added = redis.call('ZADD', pool, 'LT', ticket" => "local added = redis.call('ZADD', pool, ticket"]],
    // Time, tokens, bounds.
    'what is full stays full' => ['stock_pool.lua' => ["	stock.used = stock.used - units\n	redis.call('ZREM', stock.pool, '\$full')" => '	stock.used = stock.used - units']],
    'what is full is so for too long' => ['stock_reserve.lua' => ['stock.next and -stock.next or 0, ' => '0, ']],
    'a first end that is noted too late' => ['stock_pool.lua' => ['if not stock.next or ends < stock.next then' => 'if not stock.next then']],
    'a clock that was set back' => ['stock_pool.lua' => ['if stock.us < stock.fence - 1e6 then' => 'if false then']],
    'a fencing token that is given twice' => ['stock_pool.lua' => ['return math.max(stock.us, stock.fence + 1)' => 'return math.max(stock.us, stock.fence)']],
    'a fencing token of a basket that a waiter has had' => ['stock_basket.lua' => ["	fence = math.max(fence, next_token(stock)) -- above" => '	fence = stock.us -- above']],
    'a script that sweeps all' => ['stock_pool.lua' => ['	most = math.min(most, stock.budget)' => '	most = 1e6']],
];

$check = new StockCheck();
$only = getenv('DLOCK_STOCK_MUTANT');
foreach ($mistakes as $mistake => $replacements) {
    if ($only !== false && !str_contains($mistake, $only)) {
        continue;
    }
    $found = $check->run(range(1, 70), 1100, $replacements);
    if (getenv('DLOCK_STOCK_TRACE') !== false || $only !== false) {
        echo "$mistake: $found\n";
    } elseif ($found === null) {
        echo "not found: $mistake\n";
    }
}
?>
done
--EXPECT--
done
