#include "stock.h"

#include "../classes.h"
#include "../errors.h"
#include "../globals.h"
#include "../interrupts.h"
#include "../settings.h"
#include "arguments.h"
#include "reservation.h"
#include "servers.h"

static zend_object_handlers handlers;

static zend_object *stock_new(zend_class_entry *class)
{
	dlock_stock_object *stock = zend_object_alloc(sizeof *stock, class);

	zend_object_std_init(&stock->std, class);
	object_properties_init(&stock->std, class);
	stock->std.handlers = &handlers;
	return &stock->std;
}

static void stock_free(zend_object *object)
{
	dlock_stock_object *stock = dlock_stock_from(object);

	if (stock->stock) {
		dlock_stock_free(stock->stock);
		zend_string_release(stock->servers);
		zend_string_release(stock->prefix);
	}
	zend_object_std_dtor(object);
}

static HashTable *stock_debug_info(zend_object *object, int *is_temporary)
{
	const dlock_stock_object *stock = dlock_stock_from(object);
	zval info;

	array_init(&info);
	if (stock->stock) {
		add_assoc_str(&info, "servers", zend_string_copy(stock->servers));
		add_assoc_str(&info, "prefix", zend_string_copy(stock->prefix));
		add_assoc_double(&info, "ttl", (double) stock->ttl / DLOCK_SECOND);
		if (stock->per_buyer > 0) {
			add_assoc_long(&info, "perBuyer", (zend_long) stock->per_buyer);
		} else {
			add_assoc_null(&info, "perBuyer");
		}
	}
	*is_temporary = 1;
	return Z_ARRVAL(info);
}

void dlock_stock_register(zend_class_entry *class)
{
	class->create_object = stock_new;
	memcpy(&handlers, zend_get_std_object_handlers(), sizeof handlers);
	handlers.offset = offsetof(dlock_stock_object, std);
	handlers.free_obj = stock_free;
	handlers.clone_obj = NULL;
	handlers.get_debug_info = stock_debug_info;
}

/* The stock of $this, or NULL after an exception where its constructor did not run. */
static dlock_stock_object *stock_this(zval *object)
{
	dlock_stock_object *stock = dlock_stock_from(Z_OBJ_P(object));

	if (!stock->stock) {
		zend_throw_error(NULL, "Dlock\\Stock::__construct() has not been called");
		return NULL;
	}
	return stock;
}

/* ---- arguments ---- */

static dlock_arg arg_of(const zend_string *text)
{
	return (dlock_arg) { ZSTR_VAL(text), ZSTR_LEN(text) };
}

static bool is_name(const zend_string *text)
{
	return ZSTR_LEN(text) >= 1 && ZSTR_LEN(text) <= DLOCK_STOCK_NAME_MAX;
}

static bool check_name(const zend_string *text, uint32_t arg)
{
	if (!is_name(text)) {
		zend_argument_value_error(arg, "must be between 1 and %d bytes long", DLOCK_STOCK_NAME_MAX);
		return false;
	}
	return true;
}

static bool check_article(const dlock_stock_object *stock, const zend_string *article, uint32_t arg)
{
	if (!check_name(article, arg)) {
		return false;
	}
	const char *problem = dlock_stock_refuse(stock->stock, arg_of(article));
	if (problem) {
		zend_argument_value_error(arg, "%s", problem);
		return false;
	}
	return true;
}

/* Takes the name over. */
static bool add_article(const dlock_stock_object *stock, dlock_stock_order *order, zend_string *article, zend_long pieces, bool single)
{
	int i = order->order.count++;

	order->articles[i] = article;
	order->order.articles[i] = arg_of(article);
	order->order.pieces[i] = pieces;
	if (!single && !is_name(article)) {
		zend_argument_value_error(1, "must have names of articles between 1 and %d bytes long as keys", DLOCK_STOCK_NAME_MAX);
		return false;
	}
	return check_article(stock, article, 1);
}

static bool add_articles(const dlock_stock_object *stock, dlock_stock_order *order, HashTable *pieces_by_article)
{
	uint32_t count = zend_hash_num_elements(pieces_by_article);
	zend_string *name;
	zend_ulong index;
	zval *pieces;

	if (count < 1 || count > DLOCK_STOCKS_MAX) {
		zend_argument_value_error(1, "must be the name of an article, or have pieces by article, of 1 to %d articles", DLOCK_STOCKS_MAX);
		return false;
	}
	ZEND_HASH_FOREACH_KEY_VAL(pieces_by_article, index, name, pieces) {
		ZVAL_DEREF(pieces);
		if (Z_TYPE_P(pieces) != IS_LONG) {
			zend_argument_type_error(1, "must have pieces by article, of type int, %s given", zend_zval_type_name(pieces));
			return false;
		}
		if (Z_LVAL_P(pieces) < 1 || Z_LVAL_P(pieces) > DLOCK_STOCK_MOST_PIECES) {
			zend_argument_value_error(1, "must have 1 to %d pieces of each article", DLOCK_STOCK_MOST_PIECES);
			return false;
		}
		if (!add_article(stock, order, name ? zend_string_copy(name) : zend_long_to_str((zend_long) index), Z_LVAL_P(pieces), false)) {
			return false;
		}
	} ZEND_HASH_FOREACH_END();
	if (!dlock_stock_is_together(stock->stock, order->order.articles, order->order.count)) {
		zend_argument_value_error(1, "must have articles that share a hash slot of the cluster: give their keys the same part in braces, as in the prefix "
			"\"{sale}:\"");
		return false;
	}
	return true;
}

/* From the first three arguments; NULL after an exception. */
static dlock_stock_order *order_from(const dlock_stock_object *stock, HashTable *articles, zend_string *article, zend_string *buyer, zend_string *request)
{
	dlock_stock_order *order = ecalloc(1, sizeof *order);

	if (!(articles ? add_articles(stock, order, articles) : add_article(stock, order, zend_string_copy(article), 1, true))
			|| !check_name(buyer, 2) || !check_name(request, 3)) {
		dlock_stock_order_free(order);
		return NULL;
	}
	order->buyer = zend_string_copy(buyer);
	order->request = zend_string_copy(request);
	order->order.id = dlock_stock_order_id(arg_of(buyer), arg_of(request));
	return order;
}

/* ---- the server ---- */

/* A list of servers, as RedLock takes it? Of one server it is [host, port, connect timeout]. */
static bool is_several(HashTable *array)
{
	zval *element;

	if (!zend_hash_index_exists(array, 0)) {
		return false;
	}
	ZEND_HASH_FOREACH_VAL(array, element) {
		ZVAL_DEREF(element);
		if (Z_TYPE_P(element) == IS_ARRAY || (Z_TYPE_P(element) == IS_STRING && strstr(Z_STRVAL_P(element), "://"))) {
			return true;
		}
	} ZEND_HASH_FOREACH_END();
	return false;
}

/* NULL after an exception. Neither an array nor a DSN: dlock.server. */
static dlock_server *server_from(HashTable *array, zend_string *dsn)
{
	zval spec;

	if (array && is_several(array)) {
		zend_argument_value_error(1, "must be one server or service: on several that are independent of each other, as RedLock has them, a stock is not offered");
		return NULL;
	}
	if (array) {
		ZVAL_ARR(&spec, array);
	} else if (dsn) {
		ZVAL_STR(&spec, dsn);
	}
	dlock_server *server = array || dsn ? dlock_server_from_zval(&spec, 1, -1) : dlock_server_from_ini();
	if (server && server->kind != DLOCK_SERVER_REDIS) {
		zend_argument_value_error(1, "must name Redis: on %s, a stock is not offered%s", server->kind == DLOCK_SERVER_MEMCACHED ? "memcached" : "memory://",
			array || dsn ? "" : " (it is null, and dlock.server names no Redis)");
		dlock_server_release(server);
		return NULL;
	}
	if (server) {
		dlock_server_complete(server);
	}
	return server;
}

/* ---- methods ---- */

ZEND_METHOD(Dlock_Stock, __construct)
{
	HashTable *array = NULL;
	zend_string *dsn = NULL, *prefix = NULL;
	double ttl = 600;
	zend_long per_buyer = 0;
	bool no_limit = true;
	dlock_nanos lease;

	ZEND_PARSE_PARAMETERS_START(0, 4)
		Z_PARAM_OPTIONAL
		Z_PARAM_ARRAY_HT_OR_STR_OR_NULL(array, dsn)
		Z_PARAM_STR(prefix)
		Z_PARAM_DOUBLE(ttl)
		Z_PARAM_LONG_OR_NULL(per_buyer, no_limit)
	ZEND_PARSE_PARAMETERS_END();

	dlock_stock_object *stock = dlock_stock_from(Z_OBJ_P(ZEND_THIS));
	if (stock->stock) {
		zend_throw_error(NULL, "Dlock\\Stock::__construct() has been called already");
		RETURN_THROWS();
	}
	if (!dlock_check_settings() || !dlock_check_ttl(ttl, DLOCK_ANY_TTL, 3, &lease)) {
		RETURN_THROWS();
	}
	if (!no_limit && (per_buyer < 1 || per_buyer > DLOCK_STOCK_MOST_PIECES)) {
		zend_argument_value_error(4, "must be null or between 1 and %d", DLOCK_STOCK_MOST_PIECES);
		RETURN_THROWS();
	}
	dlock_server *server = server_from(array, dsn);
	if (!server) {
		RETURN_THROWS();
	}
	zend_string *begins = prefix ? zend_string_copy(prefix) : zend_string_init(ZEND_STRL("Stock:"), 0);
	stock->stock = dlock_stock_new(&DLOCK_G(pools).redis, server, ZSTR_VAL(begins), ZSTR_LEN(begins));
	if (stock->stock) {
		stock->ttl = lease;
		stock->per_buyer = no_limit ? 0 : per_buyer;
		stock->servers = zend_string_init(server->label, strlen(server->label), 0);
		stock->prefix = begins;
	} else {
		zend_string_release(begins);
		dlock_throw_no_memory();
	}
	dlock_server_release(server);
}

ZEND_METHOD(Dlock_Stock, restock)
{
	zend_string *article, *change = NULL;
	zend_long pieces;
	int64_t changed;
	dlock_error error;

	ZEND_PARSE_PARAMETERS_START(2, 3)
		Z_PARAM_STR(article)
		Z_PARAM_LONG(pieces)
		Z_PARAM_OPTIONAL
		Z_PARAM_STR_OR_NULL(change)
	ZEND_PARSE_PARAMETERS_END();

	dlock_stock_object *stock = stock_this(ZEND_THIS);
	if (!stock || !check_article(stock, article, 1)) {
		RETURN_THROWS();
	}
	if (pieces == 0 || pieces < -DLOCK_STOCK_MOST_PIECES || pieces > DLOCK_STOCK_MOST_PIECES) {
		zend_argument_value_error(2, "must be between 1 and %d, or less than 0 by as much", DLOCK_STOCK_MOST_PIECES);
		RETURN_THROWS();
	}
	if (change && !check_name(change, 3)) {
		RETURN_THROWS();
	}
	dlock_arg name = change ? arg_of(change) : (dlock_arg) { "", 0 };
	dlock_status status = dlock_stock_restock(stock->stock, arg_of(article), pieces, name, &changed, &error);
	if (status != DLOCK_OK) {
		dlock_throw(status, &error, NULL);
		RETURN_THROWS();
	}
	RETURN_LONG((zend_long) changed);
}

/* False: one of them has thrown. Its turn is nobody's then, nor after a fatal error. */
static bool run_interrupts(dlock_stock_turn *turn)
{
	zend_try {
		dlock_run_interrupts();
	} zend_catch {
		dlock_stock_leave(turn);
		zend_bailout();
	} zend_end_try();
	if (EG(exception)) {
		dlock_stock_leave(turn);
	}
	return !EG(exception);
}

/* False: an exception was thrown. */
static bool reserve(const dlock_stock_object *stock, const dlock_stock_order *order, dlock_nanos timeout, dlock_nanos ttl, dlock_stock_answer *answer)
{
	dlock_stock_turn turn = { .stock = stock->stock, .order = &order->order, .ttl = ttl, .limit = stock->per_buyer };
	dlock_wait wait = dlock_interruptible(dlock_after(dlock_now(), timeout));
	dlock_status status;
	dlock_error error;

	while ((status = dlock_stock_reserve(&turn, &wait, answer, &error)) == DLOCK_INTERRUPTED) {
		if (!run_interrupts(&turn)) {
			return false;
		}
		wait.wakeup = dlock_interruptible(wait.deadline).wakeup;
	}
	if (status != DLOCK_OK) {
		dlock_throw(status, &error, NULL);
	} else if (answer->outcome == DLOCK_STOCK_LIMITED) {
		dlock_fail(&error, DLOCK_LOST, "The buyer \"%s\" has %lld pieces of \"%s\", reserved or bought, and may have %lld in all",
			dlock_show(ZSTR_VAL(order->buyer), ZSTR_LEN(order->buyer)).text,
			(long long) answer->limited_pieces, ZSTR_VAL(order->articles[answer->article]), (long long) stock->per_buyer);
		dlock_throw_as(dlock_ce_limit_exceeded_exception, &error);
	}
	return status == DLOCK_OK && answer->outcome != DLOCK_STOCK_LIMITED;
}

ZEND_METHOD(Dlock_Stock, reserve)
{
	HashTable *articles = NULL;
	zend_string *article = NULL, *buyer, *request;
	double timeout = 0, ttl = 0;
	bool no_ttl = true;
	dlock_nanos wait, lease;
	dlock_stock_answer answer;

	ZEND_PARSE_PARAMETERS_START(3, 5)
		Z_PARAM_ARRAY_HT_OR_STR(articles, article)
		Z_PARAM_STR(buyer)
		Z_PARAM_STR(request)
		Z_PARAM_OPTIONAL
		Z_PARAM_DOUBLE(timeout)
		Z_PARAM_DOUBLE_OR_NULL(ttl, no_ttl)
	ZEND_PARSE_PARAMETERS_END();

	dlock_stock_object *stock = stock_this(ZEND_THIS);
	if (!stock || !dlock_check_timeout(timeout, false, 0, 4, &wait)) {
		RETURN_THROWS();
	}
	if (articles && zend_hash_num_elements(articles) > 1 && timeout > 0) {
		zend_argument_value_error(4, "must be 0 for several articles: there is no queue for all of them");
		RETURN_THROWS();
	}
	lease = stock->ttl;
	if (!no_ttl && !dlock_check_ttl(ttl, DLOCK_ANY_TTL, 5, &lease)) {
		RETURN_THROWS();
	}
	dlock_stock_order *order = order_from(stock, articles, article, buyer, request);
	if (!order) {
		RETURN_THROWS();
	}
	if (!reserve(stock, order, wait, lease, &answer) || answer.outcome == DLOCK_STOCK_SHORT) {
		dlock_stock_order_free(order);
		return; /* with an exception, or null */
	}
	memcpy(order->order.pieces, answer.pieces, sizeof answer.pieces); /* asked again, it may be for other numbers than it has */
	dlock_reservation_create(return_value, stock, order, lease, &answer);
}

ZEND_METHOD(Dlock_Stock, reservation)
{
	HashTable *articles = NULL;
	zend_string *article = NULL, *buyer, *request;

	ZEND_PARSE_PARAMETERS_START(3, 3)
		Z_PARAM_ARRAY_HT_OR_STR(articles, article)
		Z_PARAM_STR(buyer)
		Z_PARAM_STR(request)
	ZEND_PARSE_PARAMETERS_END();

	dlock_stock_object *stock = stock_this(ZEND_THIS);
	dlock_stock_order *order = stock ? order_from(stock, articles, article, buyer, request) : NULL;
	if (!order) {
		RETURN_THROWS();
	}
	dlock_reservation_create(return_value, stock, order, stock->ttl, NULL);
}

ZEND_METHOD(Dlock_Stock, counts)
{
	zend_string *article;
	dlock_permits_counts counts;
	dlock_error error;

	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(article)
	ZEND_PARSE_PARAMETERS_END();

	dlock_stock_object *stock = stock_this(ZEND_THIS);
	if (!stock || !check_article(stock, article, 1)) {
		RETURN_THROWS();
	}
	dlock_status status = dlock_stock_count(stock->stock, arg_of(article), &counts, &error);
	if (status != DLOCK_OK) {
		dlock_throw(status, &error, NULL);
		RETURN_THROWS();
	}
	array_init(return_value);
	add_assoc_long(return_value, "available", (zend_long) counts.available);
	add_assoc_long(return_value, "reserved", (zend_long) counts.held);
	add_assoc_long(return_value, "sold", (zend_long) counts.sold);
	add_assoc_long(return_value, "waiting", (zend_long) counts.waiting);
}
