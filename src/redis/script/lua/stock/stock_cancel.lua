-- Cancels all of an order: what it has reserved, and its wait. An order that has expired, or does not exist and may yet
-- come to wait, counts as cancelled from then on, and cannot be confirmed.
--
-- keys: stocks...
-- args: dlock_order_ref *order { id:text generation:int products:text }
-- generation '': the last one. products: the hash of several; '': it has one.
-- Replies:
--   {1}: units were made available, or the order was taken out of the queue
--   {2, ms ago}: it was cancelled or refunded before
--   {3}: it had expired, or did not exist and may yet come to wait
--   {0, stock, why}: 0 nothing has that name, 4 another generation, 5 other products, 7 it is sold
--
-- Cost: O(log n), six commands for one product, and, if orders wait, two for each of CANCELS at most.
--#include permits_clock.lua
--#include stock_pool.lua
local CANCELS = 100
local id, generation, products, us, stocks, reply, ago = ARGV[1], tonumber(ARGV[2]), ARGV[3], clock(KEYS[1]), {}, 2, 0
local queued, found = false, false -- some order waits; one with this name does

-- Takes the waiters with this name out of the queue, as far as they are among the first.
local function take_out(stock)
	for _, waiter in ipairs(first_waiters(stock, math.ceil(CANCELS / #KEYS))) do
		local other, inbox = string.match(waiter, '(%S+) (%S*)$')
		if other == id then
			local _, signs = names_of(waiter)
			tell(id, inbox, redis.call('ZSCORE', stock.pool, signs), 0)
			redis.call('ZREM', stock.pool, names_of(waiter))
			stock.left, found, reply = true, true, 1
		end
	end
end

for i, pool in ipairs(KEYS) do
	stocks[i] = read(pool, us, #KEYS)
	queued = queued or stocks[i].queue
end
for i, stock in ipairs(stocks) do
	local signature
	stock.score, stock.units, signature = order_of(stock, id)
	local why = (stock.score == 0 and not queued and 0)
		or (stock.score > 0 and signature ~= products and 5)
		or (stock.score > 0 and generation and generation_of(stock.score) ~= generation and 4)
		or (stock.score >= SOLD and stock.score < ENDED and 7)
	if why then
		return serve_each(stocks, {0, i, why})
	end
end
for _, stock in ipairs(stocks) do
	if stock.queue then
		take_out(stock)
	end
end
for _, stock in ipairs(stocks) do
	local score, state = stock.score, state_at(CANCELLED, stock.now, generation_of(stock.score))
	if score > 0 and score < SOLD then
		put_back(stock, id, stock.units, state)
		forget_orders(stock, 2)
		reply = 1
	elseif score < CANCELLED then
		redis.call('ZADD', stock.pool, state, 'h' .. id)
		if score == 0 and products ~= '' then
			redis.call('ZADD', stock.pool, products, 'a' .. id)
		end
		reply = reply == 1 and 1 or 3
	else
		ago = math.max(ago, stock.now - math.floor(score % 1e13))
	end
	if found or score >= CANCELLED and score < REFUNDED and (stock.queue or not is_settled(score)) then
		redis.call('ZADD', stock.pool, state, 'h' .. id)
	elseif score >= REFUNDED and not is_settled(score) then -- a waiter behind the first ones looks at that
		redis.call('ZADD', stock.pool, string.format('%.6f', score - 1 / 128), 'h' .. id)
	end
	serve(stock)
	if stock.left then
		note_queue(stock)
	end
end
return {reply, ago}
