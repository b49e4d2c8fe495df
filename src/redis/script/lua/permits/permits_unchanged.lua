-- unchanged.lua for permits, after a grant and its WAIT. If replicas have attached to the server since the base of its
-- epoch, what they have confirmed says nothing, unless the nodes are asked. If this is `final`, the epoch is then
-- opened anew and the permits are released.
--
-- keys: pool epoch
-- args: id:text dlock_epoch_rule guard { time:ms } old:text? final:'1'|''?
-- old: of an exchange: the id of the handle, which holds the permits again if the exchange is undone. '-': of a reader
-- that became the writer: it reads again.
-- Replies 1: no replica has attached, and the id holds the permits; 0: it does not; {-2, replid, settles}: ask the
-- nodes, nothing was done; otherwise {ms until the epoch is settled (-1: not confirmed), replid, settles}. Cost:
-- O(log n), three commands, one of them INFO, if no replica has attached.
local pool, id = KEYS[1], ARGV[1]
local ends, permits, used = unpack(redis.call('ZMSCORE', pool, 'h' .. id, 'w' .. id, '$used'))
if not ends then
	return 0
end
local epoch = KEYS[2]
--#include attached.lua
local old = ARGV[3] or ''
if old == '-' then
	redis.call('ZREM', pool, 'w' .. id)
	redis.call('ZADD', pool, used - (permits or 1) + 1, '$used')
	return {unsettled, replid, settles}
end
redis.call('ZREM', pool, 'h' .. id, 'w' .. id)
if old == '' then
	redis.call('ZADD', pool, used - (permits or 1), '$used')
elseif permits then
	redis.call('ZADD', pool, ends, 'h' .. old, permits, 'w' .. old)
else
	redis.call('ZADD', pool, ends, 'h' .. old)
end
return {unsettled, replid, settles}
