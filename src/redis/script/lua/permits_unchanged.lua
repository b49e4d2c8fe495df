-- unchanged.lua for permits, behind a grant and its WAIT: have replicas taken full copies of the server's data since
-- its epoch was opened? Then what they have confirmed says nothing. The epoch is opened anew, and the permits are given
-- back.
--
-- keys: pool epoch
-- args: id:text dlock_epoch_rule guard { time:ms } old:text?
-- old: of an exchange: the id of the handle, which has the permits again.
-- Replies 1: not so, and the permits are the id's; 0: they are not; otherwise {ms until the epoch is settled, or -1: not
-- confirmed, replid, settles}. Cost: O(log n), three commands, one of them INFO, if not so.
local pool, id = KEYS[1], ARGV[1]
local ends, permits, used = unpack(redis.call('ZMSCORE', pool, 'h' .. id, 'w' .. id, '$used'))
if not ends then
	return 0
end
-- The common case ends here, as in unchanged.lua.
local copies = string.match(redis.call('GET', KEYS[2]) or '', '^%x+ %d+ %-%d+ %d+ (%d+)$')
if copies and string.find(redis.call('INFO', 'stats'), '\nsync_full:' .. copies .. '\r', 1, true) then
	return 1
end

--#include epoch.lua
local unsettled, replid, settles = check_epoch(KEYS[2], ARGV[2], true, true)
if unsettled == 0 then
	return 1
end
redis.call('ZREM', pool, 'h' .. id, 'w' .. id)
if not ARGV[3] then
	redis.call('ZADD', pool, used - (permits or 1), '$used')
elseif permits then
	redis.call('ZADD', pool, ends, 'h' .. ARGV[3], permits, 'w' .. ARGV[3])
else
	redis.call('ZADD', pool, ends, 'h' .. ARGV[3])
end
return {unsettled, replid, settles}
