-- How far is the era? It is opened where it is missing, or another's.
--
-- keys: 1
-- KEYS[1] the era             ARGV[1] the guard in ms
-- Replies {0: it is settled, ms until it is, or -1: not confirmed; replid, settles, waited} (era.lua). Cost: O(1).
--#include era.lua
return {look_at_era(KEYS[1], ARGV[1])}
