-- Included in scripts that roll back what they have written; never sent by itself.

-- The reply of a script in which a command failed, for example because the user has no right to it. The script rolls
-- back what it had written before. Redis before 7 puts the position in the script in front of the reason.
local function failure(problem)
	problem = type(problem) == 'table' and problem.err or problem
	problem = string.gsub(string.gsub(problem, '^@?user_script: ?%d+: ', ''), '^@?user_script: ?%d+: ', '')
	problem = string.gsub(problem, '^%-', '')
	return redis.error_reply(string.match(problem, '^%u+ ') and problem or 'ERR ' .. problem)
end
