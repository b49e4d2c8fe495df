-- Included after handover.lua in scripts that give out a ticket for several servers; never sent by itself.

-- Returns a ticket after all waiters and all earlier holders here. It follows Lamport's bakery (A New Solution of
-- Dijkstra's Concurrent Programming Problem, 1974). A waiter uses the largest number of several servers. So it comes
-- after every waiter that was already queued, with its number, at one of them. No client's clock matters. Equal numbers
-- are ordered by name. A ticket stays below 2^53, because scores are not exact beyond; a fence beyond that is no token.
local function next_ticket(queue, fence)
	local name, score = unpack(redis.call('ZRANGE', queue, -1, -1, 'WITHSCORES'))
	local last = tonumber(score) or 0
	if name and is_for_several(name) and last >= ASLEEP then
		local others = redis.pcall('ZCOUNT', queue, '-inf', string.format('(%.0f', ASLEEP))
		others = type(others) == 'number' and others or 0 -- a user who may not ask has the fence to go by
		local other = others > 0 and redis.call('ZRANGE', queue, others - 1, others - 1, 'WITHSCORES')[2]
		last = math.max(last - ASLEEP, tonumber(other or 0))
	end
	local given = tonumber(redis.call('GET', fence) or 0) or 0
	local largest = given > last and given < 9007199254740991 and given or last
	return string.format('%.0f', math.min(largest + 1, 9007199254740991))
end
