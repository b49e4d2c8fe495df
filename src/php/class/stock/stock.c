#include "stock.h"

#include "../../backends.h"
#include "../arguments.h"
#include "../../classes.h"
#include "../../request/errors.h"
#include "../../globals.h"
#include "../../wait/interrupts.h"
#include "../../wait/strand.h"
#include "../../request/turns.h"
#include "reservation.h"
#include "../servers.h"
#include "../../settings.h"
#include "stock_order.h"

#include "ext/spl/spl_array.h"
#include "zend_exceptions.h"

/* The default of $remember, in seconds. */
#define DLOCK_STOCK_REMEMBER 86400

static zend_object_handlers handlers;

static zend_object *stock_new(zend_class_entry *class)
{
	return dlock_class_new(sizeof(dlock_stock_object), class, &handlers);
}

static void stock_free(zend_object *object)
{
	dlock_stock_object *stock = dlock_stock_from(object);

	if (stock->stock) {
		stock->stock->ops->free(stock->stock);
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
		add_assoc_string(&info, "fairness", stock->strict ? "fifo" : "fit");
		add_assoc_double(&info, "remember", (double) stock->remember / DLOCK_SECOND);
	}
	*is_temporary = 1;
	return Z_ARRVAL(info);
}

void dlock_stock_register(zend_class_entry *class)
{
	class->create_object = stock_new;
	dlock_class_set_handlers(&handlers, offsetof(dlock_stock_object, std), stock_free, stock_debug_info);
}

/* The stock of $this. NULL after an Error: its constructor did not run. */
static dlock_stock_object *stock_this(zval *object)
{
	dlock_stock_object *stock = dlock_stock_from(Z_OBJ_P(object));

	if (!stock->stock) {
		zend_throw_error(NULL, "Dlock\\Stock::__construct() has not been called");
		return NULL;
	}
	return stock;
}

/* ---- the server ---- */

/* NULL after an exception. If there is neither an array nor a DSN: dlock.server. */
static dlock_endpoint *server_from(HashTable *array, zend_string *dsn)
{
	if (array && dlock_is_list_of_servers(array)) {
		zend_argument_value_error(1,
			"must be one server or service: on several that are independent of each other, as RedLock has them, a "
			"stock is not offered");
		return NULL;
	}
	dlock_endpoint *server = dlock_endpoint_from_arguments(array, dsn, 1);
	const char *locks_only = server ? dlock_server_kinds[server->kind].locks_only : NULL;
	if (locks_only) {
		zend_argument_value_error(1, "must name Redis: %s, a stock is not offered%s", locks_only,
			array || dsn ? "" : " (it is null, and dlock.server names no Redis)");
		dlock_endpoint_release(server);
		return NULL;
	}
	return server;
}

/* ---- methods ---- */

static bool check_fairness(const zend_string *fairness, bool *strict)
{
	*strict = fairness && zend_string_equals_literal(fairness, "fifo");
	if (fairness && !*strict && !zend_string_equals_literal(fairness, "fit")) {
		zend_argument_value_error(5, "must be either \"fit\" or \"fifo\"");
		return false;
	}
	return true;
}

static bool check_numbers(double ttl, bool no_limit, zend_long per_buyer, double remember, dlock_nanos *lease)
{
	if (!dlock_check_settings() || !dlock_check_ttl(ttl, DLOCK_ANY_TTL, 3, lease)) {
		return false;
	}
	if (!no_limit && (per_buyer < 1 || per_buyer > DLOCK_STOCK_MOST_UNITS)) {
		zend_argument_value_error(4, "must be null or between 1 and %d", DLOCK_STOCK_MOST_UNITS);
		return false;
	}
	if (!(remember >= 1 && remember <= 31536000)) {
		zend_argument_value_error(6, "must be between 1 and 31536000 seconds");
		return false;
	}
	return true;
}

ZEND_METHOD(Dlock_Stock, __construct)
{
	HashTable *array = NULL;
	zend_string *dsn = NULL, *prefix = NULL, *fairness = NULL;
	double ttl = 600, remember = DLOCK_STOCK_REMEMBER;
	zend_long per_buyer = 0;
	bool no_limit = true, strict;
	dlock_nanos lease;

	ZEND_PARSE_PARAMETERS_START(0, 6)
		Z_PARAM_OPTIONAL
		Z_PARAM_ARRAY_HT_OR_STR_OR_NULL(array, dsn)
		Z_PARAM_STR(prefix)
		Z_PARAM_DOUBLE(ttl)
		Z_PARAM_LONG_OR_NULL(per_buyer, no_limit)
		Z_PARAM_STR(fairness)
		Z_PARAM_DOUBLE(remember)
	ZEND_PARSE_PARAMETERS_END();

	dlock_stock_object *stock = dlock_stock_from(Z_OBJ_P(ZEND_THIS));
	if (stock->stock) {
		zend_throw_error(NULL, "Dlock\\Stock::__construct() has been called already");
		RETURN_THROWS();
	}
	if (!check_numbers(ttl, no_limit, per_buyer, remember, &lease) || !check_fairness(fairness, &strict)) {
		RETURN_THROWS();
	}
	dlock_endpoint *server = server_from(array, dsn);
	if (!server) {
		RETURN_THROWS();
	}
	/* Before the stock, because a memory limit that is reached here leaves the object as it is. */
	zend_string *begins = prefix ? zend_string_copy(prefix) : zend_string_init(ZEND_STRL("Stock:"), 0);
	zend_string *label = zend_string_init(server->label, strlen(server->label), 0);
	stock->stock = dlock_stock_on(&DLOCK_G(pools), server, ZSTR_VAL(begins), ZSTR_LEN(begins));
	if (stock->stock) {
		stock->ttl = lease;
		stock->remember = (dlock_nanos) (remember * DLOCK_SECOND);
		stock->per_buyer = no_limit ? 0 : per_buyer;
		stock->strict = strict;
		stock->servers = label;
		stock->prefix = begins;
	} else {
		zend_string_release(begins);
		zend_string_release(label);
		dlock_throw_no_memory();
	}
	dlock_endpoint_release(server);
}

ZEND_METHOD(Dlock_Stock, restock)
{
	zend_string *sku, *change = NULL;
	zend_long quantity;
	int64_t changed;
	dlock_error error;

	ZEND_PARSE_PARAMETERS_START(2, 3)
		Z_PARAM_STR(sku)
		Z_PARAM_LONG(quantity)
		Z_PARAM_OPTIONAL
		Z_PARAM_STR_OR_NULL(change)
	ZEND_PARSE_PARAMETERS_END();

	dlock_stock_object *stock = stock_this(ZEND_THIS);
	if (!stock || !dlock_stock_check_sku(stock, sku, 1)) {
		RETURN_THROWS();
	}
	if (quantity == 0 || quantity < -DLOCK_STOCK_MOST_UNITS || quantity > DLOCK_STOCK_MOST_UNITS) {
		zend_argument_value_error(2, "must be between -%d and %d, and not 0", DLOCK_STOCK_MOST_UNITS,
			DLOCK_STOCK_MOST_UNITS);
		RETURN_THROWS();
	}
	if (change && !dlock_stock_check_name(change, 3)) {
		RETURN_THROWS();
	}
	dlock_arg name = change ? dlock_arg_of(change) : (dlock_arg) { "", 0 };
	dlock_nanos remember = stock->remember == (dlock_nanos) DLOCK_STOCK_REMEMBER * DLOCK_SECOND ? 0 : stock->remember;
	dlock_status status = stock->stock->ops->restock(
		stock->stock, dlock_arg_of(sku), quantity, name, remember, &changed, &error);
	if (status != DLOCK_OK) {
		dlock_throw(status, &error, NULL);
		RETURN_THROWS();
	}
	RETURN_LONG((zend_long) changed);
}

/* A fatal error does not return to the caller, which owns the turn's order. So the turn leaves its queue first. */
static void run_interrupts(dlock_turn *turn)
{
	zend_try {
		dlock_run_interrupts();
	} zend_catch {
		dlock_turn_leave(turn);
		zend_bailout();
	} zend_end_try();
}

/* DLOCK_INTERRUPTED: an exception or a fatal error has cancelled the wait. Frees the turn. */
static dlock_status wait_for_turn(dlock_turn *turn, dlock_nanos timeout, dlock_stock_answer *answer, dlock_error *error)
{
	const dlock_stock *stock = turn->turn.stock;
	dlock_wait wait = dlock_interruptible(dlock_after(dlock_now(), timeout));
	dlock_status status;

	while ((status = stock->ops->reserve(&turn->turn, &wait, answer, error)) == DLOCK_INTERRUPTED) {
		if (!dlock_strand_is_cancelled()) {
			run_interrupts(turn);
		}
		if (dlock_strand_is_cancelled()) {
			break;
		}
		dlock_go_on_waiting(&wait);
		if (turn->process != dlock_process_current()) {
			status = dlock_fail(error, DLOCK_LOST, "The wait began in a parent process");
			break;
		}
	}
	if (dlock_strand_is_cancelled()) {
		if (status == DLOCK_OK && answer->outcome == DLOCK_STOCK_DONE && turn->turn.waited) {
			stock->ops->give_back(&turn->turn, answer);
		}
		status = DLOCK_INTERRUPTED;
		dlock_turn_leave(turn);
	} else {
		dlock_turn_free(turn);
	}
	return status;
}

/* False after an exception. */
static bool reserve(const dlock_stock_object *stock, const dlock_stock_order *order, dlock_nanos timeout,
	dlock_nanos ttl, dlock_stock_answer *answer)
{
	dlock_turn *turn = dlock_turn_new();
	dlock_error error;

	if (!turn) {
		dlock_throw_no_memory();
		return false;
	}
	turn->turn.stock = stock->stock;
	turn->turn.order = &order->order;
	turn->turn.ttl = ttl;
	turn->turn.limit = stock->per_buyer;
	turn->turn.strict = stock->strict;
	dlock_status status = wait_for_turn(turn, timeout, answer, &error);
	if (status == DLOCK_INTERRUPTED) {
		dlock_strand_go_on();
		return false;
	}
	if (status != DLOCK_OK) {
		dlock_throw(status, &error, NULL);
		return false;
	}
	bool reserved = answer->outcome == DLOCK_STOCK_DONE || answer->outcome == DLOCK_STOCK_SOLD;
	*(reserved ? &DLOCK_G(counters).reservations : &DLOCK_G(counters).reservations_refused) += 1;
	if (answer->outcome == DLOCK_STOCK_LIMITED) {
		dlock_stock_throw_limited(order, answer, stock->per_buyer, order->order.units[answer->item]);
		return false;
	} else if (answer->outcome == DLOCK_STOCK_CONFLICT) {
		dlock_stock_throw_conflict(order, answer);
		return false;
	}
	return true;
}

ZEND_METHOD(Dlock_Stock, reserve)
{
	HashTable *items = NULL;
	zend_string *sku = NULL, *buyer, *name;
	double timeout = 0, ttl = 0;
	bool no_ttl = true, strict = false;
	dlock_nanos wait, lease;
	dlock_stock_answer answer;

	ZEND_PARSE_PARAMETERS_START(3, 6)
		Z_PARAM_ARRAY_HT_OR_STR(items, sku)
		Z_PARAM_STR(buyer)
		Z_PARAM_STR(name)
		Z_PARAM_OPTIONAL
		Z_PARAM_DOUBLE(timeout)
		Z_PARAM_DOUBLE_OR_NULL(ttl, no_ttl)
		Z_PARAM_BOOL(strict)
	ZEND_PARSE_PARAMETERS_END();

	dlock_stock_object *stock = stock_this(ZEND_THIS);
	if (!stock || !dlock_check_timeout(timeout, false, 0, 4, &wait)) {
		RETURN_THROWS();
	}
	lease = stock->ttl;
	if (!no_ttl && !dlock_check_ttl(ttl, DLOCK_ANY_TTL, 5, &lease)) {
		RETURN_THROWS();
	}
	dlock_stock_order *order = dlock_stock_order_from(stock, items, sku, buyer, name);
	if (!order) {
		RETURN_THROWS();
	}
	if (reserve(stock, order, wait, lease, &answer)
		&& (answer.outcome == DLOCK_STOCK_DONE || answer.outcome == DLOCK_STOCK_SOLD)) {
		dlock_reservation_create(return_value, stock, order, lease, &answer);
		return;
	}
	if (!EG(exception) && strict && answer.outcome == DLOCK_STOCK_CLOSED && answer.is_unknown) {
		dlock_stock_throw_unknown(ZSTR_VAL(order->skus[answer.item]));
	}
	dlock_stock_order_free(order); /* the method throws, or returns null */
}

/* The order that the three parameters name; NULL after an exception. */
static dlock_stock_order *order_parameters(INTERNAL_FUNCTION_PARAMETERS)
{
	HashTable *items = NULL;
	zend_string *sku = NULL, *buyer, *name;

	(void) return_value;
	ZEND_PARSE_PARAMETERS_START(3, 3)
		Z_PARAM_ARRAY_HT_OR_STR(items, sku)
		Z_PARAM_STR(buyer)
		Z_PARAM_STR(name)
	ZEND_PARSE_PARAMETERS_END_EX(return NULL);

	dlock_stock_object *stock = stock_this(ZEND_THIS);
	return stock ? dlock_stock_order_from(stock, items, sku, buyer, name) : NULL;
}

ZEND_METHOD(Dlock_Stock, reservation)
{
	dlock_stock_order *order = order_parameters(INTERNAL_FUNCTION_PARAM_PASSTHRU);

	if (!order) {
		RETURN_THROWS();
	}
	dlock_stock_object *stock = dlock_stock_from(Z_OBJ_P(ZEND_THIS));
	dlock_reservation_create(return_value, stock, order, stock->ttl, NULL);
}

ZEND_METHOD(Dlock_Stock, order)
{
	dlock_stock_order *order = order_parameters(INTERNAL_FUNCTION_PARAM_PASSTHRU);
	dlock_order_status status[DLOCK_STOCKS_MAX];
	dlock_nanos asked;
	dlock_error error;
	zval items;

	if (!order) {
		RETURN_THROWS();
	}
	dlock_stock *stock = dlock_stock_from(Z_OBJ_P(ZEND_THIS))->stock;
	dlock_status outcome = stock->ops->look(stock, &order->order, status, &asked, &error);
	if (outcome != DLOCK_OK) {
		dlock_throw(outcome, &error, NULL);
	} else if (status[0].state != DLOCK_STATE_NONE) {
		for (int i = 0; i < order->order.count; i++) {
			order->order.units[i] = status[i].units;
		}
		dlock_stock_items(&items, order);
		double passed = (double) (dlock_now() - asked) / DLOCK_SECOND;
		dlock_order_create(return_value, status[0].state, &items, zend_string_copy(order->buyer),
			zend_string_copy(order->name), (double) status[0].at / 1000, (double) status[0].ms / 1000 - passed);
	}
	dlock_stock_order_free(order);
}

/* ---- pages of orders ---- */

/* A cursor is the number and the id after which the next page begins, with a space between. */
static bool read_cursor(zend_string *after, char *number, size_t size, dlock_stock_query *query)
{
	const char *space = strchr(ZSTR_VAL(after), ' ');
	size_t len = space ? (size_t) (space - ZSTR_VAL(after)) : 0;

	if (len < 1 || len >= size || strlen(ZSTR_VAL(after)) != ZSTR_LEN(after)
		|| strspn(ZSTR_VAL(after), "0123456789.") != len || !strchr(space, '/')
		|| strlen(space + 1) > DLOCK_ORDER_ID_MAX) {
		zend_argument_value_error(6, "must be null or the $next of a page");
		return false;
	}
	memcpy(number, ZSTR_VAL(after), len);
	number[len] = '\0';
	query->from = number;
	query->after = space + 1;
	return true;
}

static zend_string *decode(const char *text, size_t len)
{
	zend_string *name = zend_string_alloc(len, false);

	ZSTR_LEN(name) = dlock_stock_decode(text, len, ZSTR_VAL(name));
	ZSTR_VAL(name)[ZSTR_LEN(name)] = '\0';
	return name;
}

typedef struct {
	zend_string *sku;
	zval orders;
} page;

static void add_listed(void *context, const dlock_listed_order *listed)
{
	page *page = context;
	const char *slash = strchr(listed->id, '/');
	zval order, items, units;

	array_init(&items);
	ZVAL_LONG(&units, (zend_long) listed->units);
	zend_symtable_update(Z_ARRVAL(items), page->sku, &units);
	dlock_order_create(&order, listed->state, &items, decode(listed->id, (size_t) (slash - listed->id)),
		decode(slash + 1, strlen(slash + 1)), (double) listed->at / 1000, (double) listed->left / 1000);
	add_next_index_zval(&page->orders, &order);
}

static void create_page(zval *value, const page *page, const dlock_stock_cursor *next)
{
	object_init_ex(value, dlock_ce_order_page);
	ZVAL_COPY_VALUE(OBJ_PROP_NUM(Z_OBJ_P(value), 0), &page->orders);
	if (*next->number) {
		ZVAL_STR(OBJ_PROP_NUM(Z_OBJ_P(value), 1), strpprintf(0, "%s %s", next->number, next->id));
	} else {
		ZVAL_NULL(OBJ_PROP_NUM(Z_OBJ_P(value), 1));
	}
}

static bool check_query(
	const dlock_stock_object *stock, zend_string *sku, zend_string *buyer, double since, zend_long limit, bool all)
{
	if (!dlock_stock_check_sku(stock, sku, 1) || (buyer && !dlock_stock_check_name(buyer, 2))) {
		return false;
	}
	if (!(since >= 0 && since < 1e10)) {
		zend_argument_value_error(4, "must be a Unix time");
	} else if (since > 0 && all) {
		zend_argument_value_error(4, "must be 0 without a $state");
	} else if (limit < 1 || limit > 1000) {
		zend_argument_value_error(5, "must be between 1 and 1000");
	}
	return !EG(exception);
}

ZEND_METHOD(Dlock_Stock, orders)
{
	zend_string *buyer = NULL, *after = NULL;
	page page;
	zend_object *state = NULL;
	double since = 0;
	zend_long limit = 100;
	char number[40];
	dlock_stock_cursor next;
	dlock_error error;

	ZEND_PARSE_PARAMETERS_START(1, 6)
		Z_PARAM_STR(page.sku)
		Z_PARAM_OPTIONAL
		Z_PARAM_STR_OR_NULL(buyer)
		Z_PARAM_OBJ_OF_CLASS_OR_NULL(state, dlock_ce_order_state)
		Z_PARAM_DOUBLE(since)
		Z_PARAM_LONG(limit)
		Z_PARAM_STR_OR_NULL(after)
	ZEND_PARSE_PARAMETERS_END();

	dlock_stock_object *stock = stock_this(ZEND_THIS);
	if (!stock || !check_query(stock, page.sku, buyer, since, limit, !state)) {
		RETURN_THROWS();
	}
	dlock_order_id whose = dlock_stock_order_id(
		buyer ? dlock_arg_of(buyer) : (dlock_arg){ "", 0 }, (dlock_arg){ "", 0 });
	*strrchr(whose.text, '/') = '\0';
	dlock_stock_query query = { state ? dlock_stock_state_from(state) : DLOCK_STATE_NONE, since, whose.text, NULL, NULL,
		(int) limit };
	if (after && !read_cursor(after, number, sizeof number, &query)) {
		RETURN_THROWS();
	}
	array_init(&page.orders);
	dlock_status status = stock->stock->ops->list(
		stock->stock, dlock_arg_of(page.sku), &query, add_listed, &page, &next, &error);
	if (status != DLOCK_OK) {
		zval_ptr_dtor(&page.orders);
		dlock_throw(status, &error, NULL);
		RETURN_THROWS();
	}
	create_page(return_value, &page, &next);
}

ZEND_METHOD(Dlock_OrderPage, getIterator)
{
	ZEND_PARSE_PARAMETERS_NONE();
	object_init_ex(return_value, spl_ce_ArrayIterator);
	zend_call_known_instance_method_with_1_params(
		spl_ce_ArrayIterator->constructor, Z_OBJ_P(return_value), NULL, OBJ_PROP_NUM(Z_OBJ_P(ZEND_THIS), 0));
}

/* ---- counts ---- */

void dlock_stock_uncertain(zval *value, int64_t since)
{
	if (since > DLOCK_G(uncertain_since)) {
		DLOCK_G(uncertain_since) = since;
		DLOCK_G(counters).stocks_uncertain++;
	}
	ZVAL_NULL(value);
	if (since > 0) {
		ZVAL_DOUBLE(value, (double) since / 1000);
	}
}

static void set_counts(zval *value, const dlock_stock_counts *counts)
{
	static const char *const states[] = {
		[DLOCK_SALE_OPEN] = "open", [DLOCK_SALE_CLOSED] = "closed", [DLOCK_SALE_ENDED] = "ended"
	};

	zval uncertain;

	array_init(value);
	add_assoc_string(value, "state", counts->known ? states[counts->sale] : "unknown");
	add_assoc_long(value, "available", (zend_long) counts->available);
	add_assoc_long(value, "reserved", (zend_long) counts->reserved);
	add_assoc_long(value, "sold", (zend_long) counts->sold);
	add_assoc_long(value, "waiting", (zend_long) counts->waiting);
	dlock_stock_uncertain(&uncertain, counts->uncertain);
	add_assoc_zval(value, "uncertain", &uncertain);
}

/* Returns how many SKUs there are; 0 after an exception. */
static int skus_from(const dlock_stock_object *stock, HashTable *list, dlock_arg skus[DLOCK_STOCKS_MAX])
{
	int n = 0;
	zval *name;

	if (zend_hash_num_elements(list) < 1 || zend_hash_num_elements(list) > DLOCK_STOCKS_MAX) {
		zend_argument_value_error(1, "must be a SKU, or a list of 1 to %d of them", DLOCK_STOCKS_MAX);
		return 0;
	}
	ZEND_HASH_FOREACH_VAL(list, name) {
		ZVAL_DEREF(name);
		if (Z_TYPE_P(name) != IS_STRING) {
			zend_argument_type_error(1, "must be a list of strings, %s given", zend_zval_type_name(name));
			return 0;
		}
		if (!dlock_stock_check_sku(stock, Z_STR_P(name), 1)) {
			return 0;
		}
		skus[n++] = dlock_arg_of(Z_STR_P(name));
	} ZEND_HASH_FOREACH_END();
	return n;
}

ZEND_METHOD(Dlock_Stock, counts)
{
	HashTable *list = NULL;
	zend_string *sku = NULL;
	bool confirmed = false;
	dlock_arg skus[DLOCK_STOCKS_MAX];
	dlock_stock_counts counts[DLOCK_STOCKS_MAX];
	dlock_error error;

	ZEND_PARSE_PARAMETERS_START(1, 2)
		Z_PARAM_ARRAY_HT_OR_STR(list, sku)
		Z_PARAM_OPTIONAL
		Z_PARAM_BOOL(confirmed)
	ZEND_PARSE_PARAMETERS_END();

	dlock_stock_object *stock = stock_this(ZEND_THIS);
	if (!stock || (sku && !dlock_stock_check_sku(stock, sku, 1))) {
		RETURN_THROWS();
	}
	int count = list ? skus_from(stock, list, skus) : 1;
	skus[0] = list ? skus[0] : dlock_arg_of(sku);
	if (count == 0) {
		RETURN_THROWS();
	}
	dlock_status status = stock->stock->ops->count(stock->stock, skus, count, confirmed, counts, &error);
	if (status != DLOCK_OK) {
		dlock_throw(status, &error, NULL);
		RETURN_THROWS();
	}
	if (!list) {
		set_counts(return_value, &counts[0]);
		return;
	}
	array_init(return_value);
	for (int i = 0; i < count; i++) {
		zval one;
		set_counts(&one, &counts[i]);
		zend_symtable_str_update(Z_ARRVAL_P(return_value), skus[i].text, skus[i].len, &one);
	}
}

/* ---- the sale ---- */

static void set_sale(INTERNAL_FUNCTION_PARAMETERS, dlock_sale sale)
{
	zend_string *sku;
	dlock_sale is;
	bool known;
	dlock_error error;

	(void) return_value;
	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_STR(sku)
	ZEND_PARSE_PARAMETERS_END();

	dlock_stock_object *stock = stock_this(ZEND_THIS);
	if (!stock || !dlock_stock_check_sku(stock, sku, 1)) {
		RETURN_THROWS();
	}
	dlock_status status = stock->stock->ops->set_sale(stock->stock, dlock_arg_of(sku), sale, &is, &known, &error);
	if (status != DLOCK_OK) {
		dlock_throw(status, &error, NULL);
	} else if (!known) {
		dlock_stock_throw_unknown(ZSTR_VAL(sku));
	} else if (is != sale) {
		dlock_fail(&error, DLOCK_LOST, "The sale of \"%s\" has ended", ZSTR_VAL(sku));
		dlock_throw_as(dlock_ce_sale_ended_exception, &error);
	}
}

ZEND_METHOD(Dlock_Stock, open)
{
	set_sale(INTERNAL_FUNCTION_PARAM_PASSTHRU, DLOCK_SALE_OPEN);
}

ZEND_METHOD(Dlock_Stock, close)
{
	set_sale(INTERNAL_FUNCTION_PARAM_PASSTHRU, DLOCK_SALE_CLOSED);
}

ZEND_METHOD(Dlock_Stock, end)
{
	set_sale(INTERNAL_FUNCTION_PARAM_PASSTHRU, DLOCK_SALE_ENDED);
}
