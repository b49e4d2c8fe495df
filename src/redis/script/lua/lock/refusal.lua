-- Included where a lock is refused; never sent by itself. The script has the locals `unsettled`, and `replid` and
-- `settles` where that is not 0.

-- With what an epoch lets others know.
local function refusal(pttl, position, ticket, new)
	if unsettled == 0 then
		return {pttl, position, ticket, new}
	end
	return {math.max(pttl, unsettled), position, ticket, new, unsettled, replid, settles}
end
