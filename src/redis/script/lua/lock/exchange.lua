-- Gives a held lock another token for the rest of the lease time: the old token no longer holds it.
--
-- keys: lock fence
-- args: old:text new_token:text least_fencing_token:int
-- least_fencing_token: as in acquire.lua; '': none is given out, because an exchange is rolled back.
-- Replies {1, fencing token, ms left} if the old token held the lock or the new one does already, {0} if neither does.
-- A repeated request finds its new token, so a lost reply does no harm. Cost: O(1), five or six commands.
--#include swap.lua
return swap(KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3])
