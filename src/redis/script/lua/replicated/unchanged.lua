-- Follows a grant and its WAIT: have replicas attached to the server since the base of its epoch? Such a replica may
-- have come back from another master, for which it confirmed locks meanwhile. Then what it has confirmed here says
-- nothing, unless the nodes are asked (settle_now.lua). If their answers are not enough, and this is `final`, the epoch
-- is opened anew and the lock released. The script that grants cannot tell, because the replica may attach during WAIT.
--
-- keys: lock epoch
-- args: token:text dlock_epoch_rule guard { time:ms } old:text? final:'1'|''?
-- old: of an exchange: the handle's token, which holds the lock again if the exchange is undone.
-- Replies 1: no replica has attached, and the token holds the lock; 0: it does not; {-2, replid, settles}: ask the
-- nodes, nothing was done; otherwise {ms until the epoch is settled (-1: not confirmed), replid, settles}. Cost: O(1),
-- three commands, one of them INFO, if no replica has attached.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
	return 0
end
local epoch = KEYS[2]
--#include attached.lua
local old = ARGV[3] or ''
if old ~= '' then
	redis.call('SET', KEYS[1], old, 'PX', math.max(1, redis.call('PTTL', KEYS[1])))
else
	redis.call('DEL', KEYS[1])
end
return {unsettled, replid, settles}
