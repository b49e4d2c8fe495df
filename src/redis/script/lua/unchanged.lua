-- Behind a grant and its WAIT: have replicas taken full copies of the server's data since its epoch was opened? Then one
-- of them may have come back from another master, for which it has confirmed locks meanwhile, and what it has confirmed
-- here says nothing. The epoch is opened anew, and the lock is given back. The script that grants cannot tell: the
-- replica may come while WAIT waits for it.
--
-- keys: lock epoch
-- args: token:text dlock_epoch_rule guard { time:ms } old:text?
-- old: of an exchange: the token of the handle, which has the lock again.
-- Replies 1: not so, and the lock is the token's; 0: it is not; otherwise {ms until the epoch is settled, or -1: not
-- confirmed, replid, settles}. Cost: O(1), three commands, one of them INFO, if not so.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
	return 0
end
-- The common case ends here. Whose epoch it is does not matter: other data that have this very token are those of a
-- master that knows of the grant.
local copies = string.match(redis.call('GET', KEYS[2]) or '', '^%x+ %d+ %-%d+ %d+ (%d+)$')
if copies and string.find(redis.call('INFO', 'stats'), '\nsync_full:' .. copies .. '\r', 1, true) then
	return 1
end

--#include epoch.lua
local unsettled, replid, settles = check_epoch(KEYS[2], ARGV[2], true, true)
if unsettled == 0 then
	return 1
end
if ARGV[3] then
	redis.call('SET', KEYS[1], ARGV[3], 'PX', math.max(1, redis.call('PTTL', KEYS[1])))
else
	redis.call('DEL', KEYS[1])
end
return {unsettled, replid, settles}
