#ifndef SIM_BOOKS_H
#define SIM_BOOKS_H

#include "sim.h"

/* What the data of a server say of a pool of permits, or of a stock: see permits_pool.lua. Texts
 * are the store's, until it changes. */

enum { BOOK_ENTRIES = 512 };

typedef struct {
	const char *id;
	size_t len;
	int64_t permits;
	int64_t ends; /* of its lease, in ms of the server's clock */
	bool bought;
} book_holder;

typedef struct {
	const char *name;
	size_t len;
	int64_t number;
} book_number;

typedef struct {
	bool there;
	int64_t now; /* the server's clock, in ms */
	int64_t used, sold, stock, free, fence;
	book_holder holders[BOOK_ENTRIES];
	int holder_count;
	book_number weights[BOOK_ENTRIES], buyers[BOOK_ENTRIES]; /* of holders that have not 1; of buyers */
	int weight_count, buyer_count;
	book_number queue[BOOK_ENTRIES]; /* what its waiters want, by all that they have said of themselves */
	int waiters;
	int64_t most_wanted; /* by one waiter */
} books;

/* As it was when somebody looked last. */
typedef struct {
	server *server;
	uint64_t version;
} books_version;

/* Has it been written to since, or is it another server's now? */
bool books_have_changed(books_version *seen, server *server, const char *key);

/* False: there is no such key. */
bool books_read(books *books, server *server, const char *key);

const book_holder *books_holder(const books *books, const char *id); /* NULL: none */
bool books_waits(const books *books, const char *id); /* as one of the words of a waiter */
int64_t books_held(const books *books); /* by leases that are not over */

/* What is wrong with them by themselves; NULL: nothing. */
const char *books_error(const books *books);

#endif
