-- permits_release.lua for a server that fails over. In an unsettled epoch it releases the permits but grants them to no
-- waiter, because the server may lack holders.
--
-- keys: pool epoch
-- args: dlock_permits_attempt *attempt { id:text } dlock_epoch_rule guard { time:ms }
-- args: attempt { permits:int?inbox capacity:count?inbox inbox:inbox? }
-- With an inbox, the waiter leaves the queue, too. Its name there consists of these words, as in
-- permits_acquire_replicated.lua.
-- Replies 0 if the id held nothing, 1 if it held permits, 2 if waiters were granted some of them, too. Cost: O(log n),
-- seven commands, one of them INFO.
--#include epoch.lua
--#include permits_clock.lua
--#include permits_pool.lua
--#include permits_queue.lua
local pool, id = KEYS[1], ARGV[1]
local state = read(pool, clock(pool))
state.replicated = true
local ends, permits = unpack(redis.call('ZMSCORE', pool, 'h' .. id, 'w' .. id))
local had = ends
if ARGV[3] then
	redis.call('ZREM', pool, waiter_of(id, ARGV[3], ARGV[4], ARGV[5]))
end
if had then
	drop(state, { id }, { permits })
end
if state.queue ~= 0 and check_epoch(KEYS[2], ARGV[2]) ~= 0 then
	note_queue(state, false)
elseif serve(state) and had then
	return 2
end
return had and 1 or 0
