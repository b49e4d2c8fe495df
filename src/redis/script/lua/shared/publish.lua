-- Checks whether scripts may publish here, so that waiters can be notified.
--
-- keys: none
-- ARGV[1] an inbox that no client listens to
-- Replies a number, or an error if they may not. Cost: O(1).
return redis.pcall('PUBLISH', ARGV[1], '')
