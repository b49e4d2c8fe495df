-- Gives these held locks another token, for the lease time that is left: the old one holds none of them any longer.
--
-- keys: locks...
-- args: old:text new_token:text least_fencing_token:int
-- As in several_acquire.lua and exchange.lua.
-- Replies as exchange.lua, with the least ms left; {0} when a part is neither's. Cost: O(n) for n locks.
--#include several_swap.lua
return swap_all(#KEYS - 1, KEYS[#KEYS], ARGV[1], ARGV[2], ARGV[3])
