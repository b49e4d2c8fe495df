-- Gives these held locks another token for the rest of their lease times: the old token no longer holds any of them.
--
-- keys: locks...
-- args: old:text new_token:text least_fencing_token:int
-- Keys and arguments are as in several_acquire.lua and exchange.lua. Replies as exchange.lua, with the least ms left;
-- {0} if neither token holds one of the locks. Cost: O(n) for n locks.
--#include several_swap.lua
return swap_all(#KEYS - 1, KEYS[#KEYS], ARGV[1], ARGV[2], ARGV[3])
