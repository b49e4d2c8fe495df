-- Removes a waiter whose time is up from the queue.
--
-- keys: pool
-- args: dlock_permits_attempt *attempt { id:text permits:int capacity:count inbox:inbox }
-- Replies 1 if the waiter was granted its permits in that instant and holds them, otherwise 0. Its own turn goes to the
-- next waiter. Cost: O(log n).
--#include permits_clock.lua
--#include permits_pool.lua
--#include permits_queue.lua
redis.call('ZREM', KEYS[1], waiter_of(ARGV[1], ARGV[2], ARGV[3], ARGV[4]))
serve(read(KEYS[1], clock(KEYS[1])))
return redis.call('ZSCORE', KEYS[1], 'h' .. ARGV[1]) and 1 or 0
