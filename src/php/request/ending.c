#include "ending.h"

#include "../classes.h"
#include "../globals.h"

#include "ext/standard/basic_functions.h"
#include "zend_exceptions.h"

/* PHP sets EG_FLAGS_IN_SHUTDOWN before it calls the first shutdown function. But shutdown functions still are the
 * program: an event loop may run all of it there. PHP does not tell when the last one has returned and it begins to
 * destroy objects. Therefore the extension keeps its own shutdown function the last one. After exit() or a fatal error
 * PHP may skip that function. Then another destructor of global variables shows that the request ends. */

/* The shutdown function. User code cannot call it: it is a private constructor, and only PHP calls it without an
 * object. */
static zend_function *shutdown_function(void)
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
	entry.fci_cache.function_handler = shutdown_function();
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
		append(); /* to come after the functions that were registered meanwhile */
	} else {
		DLOCK_G(ending).reached = true;
	}
}

bool dlock_is_ending(void)
{
	/* exit() unwinds functions and destroys their variables before there is any other sign of the end. */
	if (EG(exception) && zend_is_unwind_exit(EG(exception))) {
		return true;
	}
	return (EG(flags) & EG_FLAGS_IN_SHUTDOWN) && (DLOCK_G(ending).reached || !BG(user_shutdown_function_names)
		|| EG(symbol_table).pDestructor != DLOCK_G(ending).destroy_global);
}
