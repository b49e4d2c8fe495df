-- Takes permits of a pool if there are enough and no live waiter is ahead; otherwise queues, if an inbox is given.
-- A waiter runs it again when its turn may have come, and as its sign of life.
--
-- keys: pool
-- args: dlock_permits_attempt *attempt { id:text permits:int capacity:count ttl:lease limit:count inbox:inbox
-- args: ticket:int number:int fifo:'1'|''? }
--
-- id        a token, or buyer/request
-- capacity  of the pool; '': its stock
-- limit     the most pieces for this buyer; '': as many as it likes
-- inbox     '': do not queue
-- ticket    0: none yet
-- fifo      1: a writer of a read/write lock waits in the order of tickets, as in any pool; left out: phases of readers
--           and writers alternate. Either excludes the other, should clients disagree
--
-- Replies {1, fencing token, permits, ms left} when it has them, {2, 0, permits, 0} when it has bought them,
-- {-1, 0, the buyer's pieces, 0} where the limit forbids it, and otherwise {0, ms until a lease ends (-1: none), its
-- place in the queue (-1: none), ticket, 1 if it was not in the queue before}. Where fewer pieces of a stock are not
-- sold, it does not queue, and none of these is known.
-- A repeated request finds its own permits. A lease begins anew then, so that a lost answer, or a lost grant, does no
-- harm; but a reservation's does so only when it was over, or was granted in the queue: asking again must not keep it
-- for ever. Cost: O(log n), three commands where there is room and nobody waits, and where there is none and it does
-- not wait either; and for each lease that it takes back, or waiter that it serves, four.
local known
-- The two most frequent requests come first, since even to define what follows costs time.
if ARGV[3] == '' then
	-- All is sold, and nobody has any reserved: what most requests of a sale are told.
	known = redis.call('ZMSCORE', KEYS[1], '$queue', 'h' .. ARGV[1], '$used', '$fence', '$until', '$stock', '$sold', 'b' .. string.match(ARGV[1], '^(.*)/'))
	local pieces = tonumber(ARGV[2])
	if ARGV[7] == '0' and not known[2] and not known[8] and tonumber(known[3] or 0) == 0 and pieces > (known[6] or 0) - (known[7] or 0)
		and pieces <= (tonumber(ARGV[5]) or pieces) then
		return {0, -1, -1, '0', 0}
	end
elseif ARGV[2] == '1' then
	-- A permit is free, nobody waits, and the key lasts for longer than the lease.
	local pool, time = KEYS[1], redis.pcall('TIME')
	local queue, used, fence, lasts = unpack(redis.call('ZMSCORE', pool, '$queue', '$used', '$fence', '$until'))
	if not time.err and not queue and used and lasts and used + 1 <= tonumber(ARGV[3]) then
		local us, ttl = time[1] * 1000000 + time[2], tonumber(ARGV[4])
		local token, ends = math.max(us, 1 - fence), math.floor(us / 1000) + ttl
		if us >= 1e15 and ends <= -lasts then
			if redis.call('ZADD', pool, used + 1, '$used', -token, '$fence', ends, 'h' .. ARGV[1]) > 0 then
				return {1, token, 1, ttl}
			end
			redis.call('ZADD', pool, used, '$used') -- it has had them: a repeated request
			return {1, token, tonumber(redis.call('ZSCORE', pool, 'w' .. ARGV[1]) or 1), ttl}
		end
	end
end
--#include permits_clock.lua
--#include permits_pool.lua
local unsettled, replid, settles = 0
--#include permits_contend.lua
