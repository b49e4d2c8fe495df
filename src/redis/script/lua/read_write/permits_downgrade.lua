-- The writer becomes a reader, together with the readers that wait: a release that has come back first.
--
-- keys: pool
-- args: id:text ttl:lease
-- Replies 0 when it holds nothing any more, 1 when it reads, 2 when waiters were granted some of it, too. A reader
-- stays one. The lease gets no shorter, since this may be executed late. Cost: O(log n), four commands.
--#include permits_clock.lua
--#include permits_pool.lua
--#include permits_queue.lua
local replicated = false
local function is_unsettled()
	return false
end
--#include permits_become_reader.lua
