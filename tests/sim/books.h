#ifndef SIM_BOOKS_H
#define SIM_BOOKS_H

#include "sim.h"

/* What a server's data say of a pool of permits, or of a stock: see permits_pool.lua. The texts belong to the store,
 * and are valid until it changes. */

enum { BOOK_ENTRIES = 512 };

typedef struct {
	const char *id;
	size_t len;
	int64_t permits;
	int64_t ends; /* when its lease ends, in ms of the server's clock */
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
	book_number weights[BOOK_ENTRIES], buyers[BOOK_ENTRIES]; /* of holders whose number is not 1; of buyers */
	int weight_count, buyer_count;
	book_number queue[BOOK_ENTRIES]; /* what each waiter wants; its name is the rest of its entry */
	int waiters;
	int64_t most_wanted; /* by one waiter */
} books;

/* The key's version at the last look. */
typedef struct {
	server *server;
	uint64_t version;
} books_version;

/* Was the key written since the last look, or is it on another server now? */
bool books_have_changed(books_version *seen, server *server, const char *key);

/* False: there is no such key. */
bool books_read(books *books, server *server, const char *key);

const book_holder *books_holder(const books *books, const char *id); /* NULL: none */
bool books_waits(const books *books, const char *id); /* true: a waiter's entry has the id as a word */
int64_t books_held(const books *books); /* by leases that have not expired */

/* An inconsistency within the books; NULL: there is none. */
const char *books_error(const books *books);

#endif
