-- Included in scripts that refuse a lock; never sent by itself. The script has the local `unsettled` and, if that is
-- not 0, `replid` and `settles`.

-- Adds what a client needs to settle an epoch.
local function refusal(pttl, position, ticket, new)
	if unsettled == 0 then
		return {pttl, position, ticket, new}
	end
	return {math.max(pttl, unsettled), position, ticket, new, unsettled, replid, settles}
end
