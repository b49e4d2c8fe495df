-- Acquires permits of a pool if enough are free and no live waiter is ahead. Otherwise queues, if an inbox is given. A
-- waiter repeats the script when its turn may have come, and as its sign of life.
--
-- keys: pool
-- args: dlock_permits_attempt *attempt { id:text permits:int capacity:count ttl:lease inbox:inbox
-- args: ticket:int number:int fifo:'1'|''? own:count? }
--
--   id      a token
--   inbox   '': do not queue
--   ticket  0: none yet
--   fifo    1: a writer of a read/write lock waits in the order of tickets, as in any pool; left out: phases of readers
--           and writers alternate. If clients disagree, their writers still exclude each other
--   own     the permits that its process keeps for as long as it waits
--
-- Replies {1, fencing token, permits, ms left} if the id holds them now. Otherwise {0, ms until a lease ends (-1:
-- none), position in the queue (-1: none; -2: behind a waiter for what its own process keeps), ticket, 1 if it was not
-- in the queue before}. A repeated request finds its own permits and begins their lease anew, so a lost reply or a lost
-- grant does no harm.
-- Cost: O(log n). Three commands if there is room and no client waits, or if there is none and the request does not
-- queue; four more for each lease that it reclaims, or waiter that it serves. The most frequent request comes first,
-- because even defining what follows costs time.
local sweeps, own = false, tonumber(ARGV[9])
if ARGV[2] == '1' then
	-- A permit is free, no client waits, and the key lasts for longer than the lease.
	local pool, time = KEYS[1], redis.pcall('TIME')
	local queue, used, fence, lasts = unpack(redis.call('ZMSCORE', pool, '$queue', '$used', '$fence', '$until'))
	if not time.err and not queue and used and lasts and used + 1 <= tonumber(ARGV[3]) then
		local us, ttl = time[1] * 1000000 + time[2], tonumber(ARGV[4])
		local token, ends = math.max(us, 1 - fence), math.floor(us / 1000) + ttl
		sweeps = token % 16 == 0 -- SWEEPS
		if us >= 1e15 and ends <= -lasts and not sweeps then
			if redis.call('ZADD', pool, used + 1, '$used', -token, '$fence', ends, 'h' .. ARGV[1]) > 0 then
				return {1, token, 1, ttl}
			end
			redis.call('ZADD', pool, used, '$used') -- a repeated request: it holds them already
			return {1, token, tonumber(redis.call('ZSCORE', pool, 'w' .. ARGV[1]) or 1), ttl}
		end
	end
end
--#include permits_clock.lua
--#include permits_pool.lua
local unsettled, replid, settles = 0
--#include permits_contend.lua
