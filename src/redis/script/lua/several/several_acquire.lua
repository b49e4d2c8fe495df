-- Acquires all of these locks if they are free and no live waiter is ahead, or none of them. Otherwise queues for all
-- of them, if an inbox is given. A waiter repeats the script when it is told to, and as its sign of life.
--
-- keys: locks...
-- args: dlock_attempt *attempt { token:text ttl:lease least_fencing_token:int? inbox:inbox? ticket:count?
-- args: number:int?inbox grant:''|'0'? waiter:text? }
-- The keys of a lock are the lock, its queue and its waiters; after all locks comes the fence. The arguments are as in
-- acquire.lua; with several servers the ticket is one for all queues. waiter: with the star (handover.lua).
--
-- Replies the fencing token if the token holds all locks now. Otherwise {ms until the last of them may be free, 0 if
-- the waiter is awake, ticket, 1 if it was not in a queue before}; negative ms: unknown. A repeated request finds its
-- own token, as in acquire.lua. Cost: O(n) for n locks, n + 2 commands if they are free, without waiters.
local n, fence = #KEYS - 1, KEYS[#KEYS]
local token, ttl, least = ARGV[1], ARGV[2], ARGV[3] or ''

-- As in acquire.lua, the common case comes first, and a script that fails leaves nothing behind.
local free_now, failed = redis.pcall('EXISTS', unpack(KEYS, 1, n)) == 0, nil
if free_now then
	for i = 1, n, 3 do
		local set = redis.pcall('SET', KEYS[i], token, 'PX', ttl)
		failed = failed or set.err and set
	end
	local counted = not failed and least == '' and redis.pcall('INCR', fence)
	if type(counted) == 'number' and counted > 1 then -- the fence was not lost
		return counted
	end
end

--#include fencing.lua
local function next_token()
	return tonumber(fencing_token(fence, (least == '' or least == '0') and clock() or least))
end

local inbox, ticket, number, grant = ARGV[4] or '', ARGV[5] or '', ARGV[6], ARGV[7] ~= '0'
local me = (ARGV[8] or '') == '' and '*' .. token or ARGV[8]
local unsettled = 0 -- no epoch: nothing fails over to this server
--#include several_contend.lua
