-- Takes all of these locks if they are free and no live waiter is ahead, or none of them; then it waits in all their
-- queues, if an inbox is given. A waiter runs it again when it is told to, and as its sign of life.
--
-- keys: locks...
-- args: dlock_attempt *attempt { token:text ttl:lease least_fencing_token:int? inbox:inbox? ticket:count?
-- args: number:int?inbox grant:''|'0'? waiter:text? }
-- Of each lock the lock, its queue, its waiters; behind them the fence. The arguments are as in acquire.lua; over
-- several servers the ticket is one for all queues. waiter: with the star (handover.lua).
--
-- Replies the fencing token when all are the token's, {ms until the last of them may be free, 0 if it is awake,
-- ticket, 1 if it was not in a queue before} when not; negative ms: unknown. A repeated request finds its own token, as
-- in acquire.lua. Cost: O(n) for n locks, n + 2 commands when they are free, without waiters.
local n, fence = #KEYS - 1, KEYS[#KEYS]
local token, ttl, least = ARGV[1], ARGV[2], ARGV[3] or ''

-- As in acquire.lua: the common case is in front, and nothing of a script that fails stays.
local free_now, failed = redis.pcall('EXISTS', unpack(KEYS, 1, n)) == 0, nil
if free_now then
	for i = 1, n, 3 do
		local set = redis.pcall('SET', KEYS[i], token, 'PX', ttl)
		failed = failed or set.err and set
	end
	local counted = not failed and least == '' and redis.pcall('INCR', fence)
	if type(counted) == 'number' and counted > 1 then -- it was not lost
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
