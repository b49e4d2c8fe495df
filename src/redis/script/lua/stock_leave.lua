-- Takes a waiter whose time is over out of the queue.
--
-- keys: stock
-- args: dlock_stock_attempt *attempt { id:text units:int limit:count inbox:inbox strict:'s'|'' }
-- It is named by what it gave to stock_reserve.lua.
-- Replies 1 when it was reserved its units in that instant and has them, 0 when not.
-- Cost: O(log n).
--#include permits_clock.lua
--#include stock_pool.lua
local stock = read(KEYS[1], clock(KEYS[1]), 1)
redis.call('ZREM', KEYS[1], names_of(string.format('q%s %s %s %s %s', ARGV[2], ARGV[3], ARGV[5], ARGV[1], ARGV[4])))
stock.left = true
order_of(stock, ARGV[1])
serve(stock)
note_queue(stock)
local score = order_of(stock, ARGV[1])
return score > 0 and score < ENDED and 1 or 0
