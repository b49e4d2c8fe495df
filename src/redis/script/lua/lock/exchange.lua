-- Gives a held lock another token, for the lease time that is left: the old one holds it no longer.
--
-- keys: lock fence
-- args: old:text new_token:text least_fencing_token:int
-- least_fencing_token: as in acquire.lua; '': none is given out, since an exchange is rolled back.
-- Replies {1, fencing token, ms left} when the lock was the old token's or is the new one's already, {0} when it is
-- neither's. A repeated request finds its new token, so that a lost reply does no harm. Cost: O(1), five or six
-- commands.
--#include swap.lua
return swap(KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3])
