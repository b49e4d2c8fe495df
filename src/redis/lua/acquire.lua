-- Takes the lock if it is free.
--
-- KEYS[1] the lock            KEYS[2] the fence: the last fencing token that this server gave out
-- ARGV[1] the token           ARGV[2] lease time in ms
-- ARGV[3] the least fencing token; 0: the server's time in us. Over several servers the client proposes one and the same,
--         so that their tokens normally agree
--
-- Replies {1, fencing token} when the lock is the token's, {0, holder's PTTL in ms} when it is someone else's.
-- A repeated request finds its own token and gets a lease anew, so that a lost reply does no harm.
-- Cost: O(1); three commands when it is taken.
local lock, fence = KEYS[1], KEYS[2]
local token, ttl, proposal = ARGV[1], ARGV[2], tonumber(ARGV[3])

if not redis.call('SET', lock, token, 'NX', 'PX', ttl) then
	if redis.call('GET', lock) ~= token then
		return {0, redis.call('PTTL', lock)}
	end
	redis.call('PEXPIRE', lock, ttl)
end

-- Time keeps the tokens rising where the last one was lost, or came back old, with the server's data; the last one keeps
-- them rising where the clock went back. (Below 2^53 Redis writes a number argument as the integer that it is.)
if proposal == 0 then
	local now = redis.call('TIME')
	proposal = now[1] * 1000000 + now[2]
end
local last = redis.call('GETSET', fence, proposal)
if last and tonumber(last) >= proposal then
	proposal = last + 1
	redis.call('SET', fence, proposal)
end
return {1, proposal}
