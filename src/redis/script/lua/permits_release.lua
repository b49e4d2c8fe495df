-- Gives permits back; cancels a reservation. They are granted to the first waiters that they are enough for.
--
-- keys: pools...
-- args: dlock_permits_attempt *attempt { id:text permits:int?inbox capacity:count?inbox
-- args: limit:count?inbox inbox:inbox? }
-- With an inbox it leaves the queue of the first pool, too, where it waits as it gave these to permits_acquire.lua.
-- Replies 0 when nothing was there, 1 when something was, 2 when waiters were granted some of it, too. What was bought
-- is not there any more. Repeated where the answer was lost, 0 is "done" as long as the lease cannot have ended: nobody
-- else takes it back before. Cost: O(log n), three commands, for one holder of a pool that nobody waits for.
local held = 'h' .. ARGV[1]
if #KEYS == 1 and not ARGV[2] then
	local pool = KEYS[1]
	local queue, used, permits = unpack(redis.call('ZMSCORE', pool, '$queue', '$used', 'w' .. ARGV[1]))
	if not queue and not string.find(held, '/', 1, true) then
		if redis.call('ZREM', pool, held, permits and 'w' .. ARGV[1] or held) == 0 then
			return 0
		end
		redis.call('ZADD', pool, used - (permits or 1), '$used')
		return 1
	end
end

-- The common case ends here: even to define what follows costs time.
--#include permits_clock.lua
--#include permits_pool.lua
--#include permits_queue.lua
local released, granted, now = 0, false, clock(KEYS[1])
if ARGV[2] then
	redis.call('ZREM', KEYS[1], waiter_of(ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]))
end
for _, pool in ipairs(KEYS) do
	local state = read(pool, now)
	local ends, permits = unpack(redis.call('ZMSCORE', pool, held, 'w' .. ARGV[1]))
	if ends and tonumber(ends) < SOLD then
		drop(state, { ARGV[1] }, { permits })
		released = 1
	end
	granted = serve(state) or granted
end
return granted and released == 1 and 2 or released
