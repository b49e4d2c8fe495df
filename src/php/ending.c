#include "common.h"

#include "ext/standard/basic_functions.h"
#include "zend_exceptions.h"

/* Is something dropped by the program, or destroyed because the request ends? Shutdown functions are the program, though PHP says
 * that it shuts down from before the first of them: an event loop may run all of it there. When they are over, PHP destroys what is
 * left, and does not say so: so the last one is ours. Where exit() or a fatal error keeps the rest from being called, PHP
 * destroys global variables with another function. */

/* Is called as the last: by PHP alone, since it is private and PHP has no object for it. */
static zend_function *last(void)
{
	return dlock_ce_lease->constructor;
}

static void append(void)
{
	php_shutdown_function_entry entry;

	memset(&entry, 0, sizeof entry);
#if PHP_VERSION_ID < 80500
	entry.fci.size = sizeof entry.fci;
#endif
	entry.fci_cache.function_handler = last();
	entry.fci_cache.called_scope = dlock_ce_lease;
	append_user_shutdown_function(&entry);
	DLOCK_G(ending).functions = BG(user_shutdown_function_names)->nNumUsed;
}

void dlock_ending_begin(void)
{
	memset(&DLOCK_G(ending), 0, sizeof DLOCK_G(ending));
}

void dlock_ending_watch(void)
{
	if (DLOCK_G(ending).functions == 0) {
		DLOCK_G(ending).destroy_global = EG(symbol_table).pDestructor;
		append();
	}
}

void dlock_ending_reached(void)
{
	if (BG(user_shutdown_function_names)->nNumUsed > DLOCK_G(ending).functions) {
		append(); /* behind those that were registered since */
	} else {
		DLOCK_G(ending).reached = true;
	}
}

bool dlock_is_ending(void)
{
	/* exit() destroys the variables of the functions that it leaves before anything else knows of it. */
	if (EG(exception) && zend_is_unwind_exit(EG(exception))) {
		return true;
	}
	return (EG(flags) & EG_FLAGS_IN_SHUTDOWN) && (DLOCK_G(ending).reached || !BG(user_shutdown_function_names)
		|| EG(symbol_table).pDestructor != DLOCK_G(ending).destroy_global);
}
