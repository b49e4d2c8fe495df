-- Puts pieces into a stock, or takes some out that are neither reserved nor sold.
--
-- keys: stock
-- args: pieces:int change:text
-- pieces: as many as make less than ALL; less than 0: out, as many as there are. change: its name; '': it has none.
-- Replies {by how many pieces the stock has changed, its pieces in all: available, reserved and sold}. A change that
-- has a name is made once; repeated, it replies what it was. Waiters are granted what has come.
-- Cost: O(log n).
--#include permits_clock.lua
--#include permits_pool.lua
--#include permits_queue.lua
local pool, change, name = KEYS[1], tonumber(ARGV[1]), ARGV[2] ~= '' and 'r' .. ARGV[2]
local state = read(pool, clock(pool))
local all, made = tonumber(state.stock or 0), name and redis.call('ZSCORE', pool, name)
if made then
	return {tonumber(made), all}
end
if change < 0 then
	make_room(state, -change, '')
	change = math.min(0, math.max(change, state.sold + state.used - all))
else
	change = math.max(0, math.min(change, ALL - 1 - all)) -- $stock stays out of the ranges of leases
end
state.stock = all + change
redis.call('ZADD', pool, state.stock, '$stock')
if name then
	redis.call('ZADD', pool, change, name)
end
redis.call('ZREM', pool, '$until')
redis.call('PERSIST', pool)
serve(state)
return {change, state.stock}
