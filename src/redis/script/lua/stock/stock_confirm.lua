-- Confirms all of an order, or nothing: its units are sold.
--
-- keys: stocks...
-- args: dlock_order_ref *order { id:text generation:int products:text } limit:count
-- generation '': the last one. products: the hash of several; '': it has one. limit: the most units of each product for
-- this buyer, which only counts for an order that has expired.
-- Replies:
--   {1}: it is sold now
--   {2, ms ago}: it was sold before
--   {3}: it is sold now, though it had expired
--   {0, stock, why, ms ago}: the first stock (from 1) that refuses. why: 0 nothing has that name; 1 it had expired, and
--     there are not enough units, or the sale has ended; 2 cancelled; 3 refunded; 4 another generation; 5 other
--     products; 6 the buyer's limit
--   {-2}: ask again, because there was more to do than one script does
--
-- Cost: O(log n), three commands for one product without waiters. A buyer who has paid is served even if no memory is
-- left: a script may go on then if it has written before, even without effect.
local id, generation, products = ARGV[1], tonumber(ARGV[2]), ARGV[3]
if #KEYS == 1 then
	local pool, held = KEYS[1], 'h' .. id
	local score, units, sold, queue, shift, signature, fence, full =
		unpack(redis.call('ZMSCORE', pool, held, 'w' .. id, '$sold', '$queue', '$shift', 'a' .. id, '$fence', '$full'))
	score = tonumber(score or 0)
	local time = score > 0 and score < 1e13 and not queue and not shift and (signature or '') == products
		and (not generation or math.floor(score % 1 * 64 + 0.5) == generation) and redis.pcall('TIME')
	local now = time and not time.err and math.floor(time[1] * 1000 + time[2] / 1000)
	if now and now <= score and now * 1000 > -fence - 1e6 then
		sold = (sold or 0) + (units or 1)
		if type(redis.pcall('ZADD', pool, sold, '$sold', 1e13 + now + score % 1, held)) == 'table' then
			redis.call('PERSIST', pool)
			redis.call('ZADD', pool, sold, '$sold', 1e13 + now + score % 1, held)
		end
		-- Nothing is reserved any more, so nothing becomes free by itself
		if full and sold == tonumber(redis.call('ZSCORE', pool, '$stock')) then
			redis.call('ZADD', pool, 0, '$full')
		end
		return {1}
	end
end

-- The common case ends here.
--#include permits_clock.lua
--#include stock_pool.lua
local us, limit, stocks, reply, ago = clock(KEYS[1]), tonumber(ARGV[4]), {}, 2, 0

-- Returns the reply to an expired order that cannot be confirmed; nil: it can.
local function refused(stock, i, since)
	if stock.closed > 1 then
		return {0, i, 1, since}
	end
	local room, again = make_room(stock, stock.units)
	if not room then
		return again and {-2} or {0, i, 1, since}
	end
	local may, _, more = is_allowed(stock, buyer_of(id), stock.units, limit)
	if not may then
		return more and {-2} or {0, i, 6, since}
	end
end

redis.call('PERSIST', KEYS[1])
for i, pool in ipairs(KEYS) do
	local stock, signature = read(pool, us, #KEYS), nil
	stocks[i] = stock
	stock.score, stock.units, signature = order_of(stock, id)
	local since, refusal = stock.now - math.floor(stock.score % 1e13), nil
	if stock.score == 0 then
		refusal = {0, i, 0, 0}
	elseif signature ~= products then
		refusal = {0, i, 5, 0}
	elseif generation and generation_of(stock.score) ~= generation then
		refusal = {0, i, 4, 0}
	elseif stock.score >= REFUNDED then
		refusal = {0, i, 3, since}
	elseif stock.score >= CANCELLED then
		refusal = {0, i, 2, since}
	elseif stock.score >= ENDED then
		refusal = refused(stock, i, since)
	elseif stock.score >= SOLD then
		ago = math.max(ago, since)
	end
	if refusal then
		-- What was swept serves the waiters, unless the order is to ask again
		return refusal[1] == -2 and refusal or serve_each(stocks, refusal)
	end
end
for _, stock in ipairs(stocks) do
	local score, units = stock.score, stock.units
	if score < SOLD or score >= ENDED then
		reply = (score >= ENDED or reply == 3) and 3 or 1
		stock.free, stock.sold = stock.free - (score < SOLD and 0 or units), stock.sold + units
		redis.call('ZADD', stock.pool, stock.free, '$free', stock.sold, '$sold', state_at(SOLD, stock.now,
			generation_of(score)), 'h' .. id)
		if score >= ENDED then
			redis.call('ZINCRBY', stock.pool, units, 'b' .. buyer_of(id))
		end
		serve(stock, true)
	end
end
return {reply, ago}
