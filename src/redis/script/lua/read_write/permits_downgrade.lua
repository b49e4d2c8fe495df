-- The writer becomes a reader together with all readers that wait, as if it had released and been the first to return.
--
-- keys: pool
-- args: id:text ttl:lease
-- Replies 0 if the id holds nothing any more, 1 if it reads, 2 if waiters were granted permits, too. A reader stays a
-- reader. The lease gets no shorter, because this may be executed late. Cost: O(log n), four commands.
--#include permits_clock.lua
--#include permits_pool.lua
--#include permits_queue.lua
local replicated = false
local function is_unsettled()
	return false
end
--#include permits_become_reader.lua
