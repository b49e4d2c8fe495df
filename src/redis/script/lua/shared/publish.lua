-- May scripts publish here? That is, can waiters be notified?
--
-- keys: none
-- ARGV[1] an inbox that no client listens to
-- Replies a number, or an error when they may not. Cost: O(1).
return redis.pcall('PUBLISH', ARGV[1], '')
