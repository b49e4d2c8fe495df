-- Behind a grant and its WAIT: have replicas attached to the server since the base of its epoch? Then one of them may
-- have come back from another master, for which it has confirmed locks meanwhile, and what it has confirmed here says
-- nothing, unless the nodes are asked (settle_now.lua). What they say is not enough, and this is `final`: the epoch is
-- opened anew, and the lock is given back. The script that grants cannot tell: the replica may come while WAIT waits
-- for it.
--
-- keys: lock epoch
-- args: token:text dlock_epoch_rule guard { time:ms } old:text? final:'1'|''?
-- old: of an exchange: the token of the handle, which has the lock again.
-- Replies 1: not so, and the lock is the token's; 0: it is not; {-2, replid, settles}: ask the nodes, nothing was done;
-- otherwise {ms until the epoch is settled, or -1: not confirmed, replid, settles}. Cost: O(1), three commands, one of
-- them INFO, if not so.
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
