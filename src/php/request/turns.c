#include "turns.h"

#include "../globals.h"

dlock_turn *dlock_turn_new(void)
{
	dlock_turn *turn = calloc(1, sizeof *turn);

	if (turn) {
		turn->process = dlock_process_current();
		turn->next = DLOCK_G(turns);
		DLOCK_G(turns) = turn;
	}
	return turn;
}

void dlock_turn_free(dlock_turn *turn)
{
	dlock_turn **at = &DLOCK_G(turns);

	while (*at && *at != turn) {
		at = &(*at)->next;
	}
	if (*at) {
		*at = turn->next;
	}
	free(turn);
}

void dlock_turn_leave(dlock_turn *turn)
{
	if (turn->process == dlock_process_current()) {
		turn->turn.stock->ops->leave(&turn->turn);
	}
	dlock_turn_free(turn);
}

void dlock_turns_end(void)
{
	while (DLOCK_G(turns)) {
		dlock_turn_leave(DLOCK_G(turns));
	}
}
