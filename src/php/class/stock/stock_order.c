#include "stock_order.h"

#include "../../classes.h"
#include "../../request/errors.h"

#include "zend_enum.h"
#include "zend_exceptions.h"

/* Orders: as arguments, in the exceptions about them, and as objects of Dlock\Order. */

void dlock_stock_order_free(dlock_stock_order *order)
{
	for (int i = 0; i < order->order.count; i++) {
		zend_string_release(order->skus[i]);
	}
	if (order->buyer) {
		zend_string_release(order->buyer);
		zend_string_release(order->name);
	}
	efree(order);
}

/* ---- arguments ---- */

static bool is_name(const zend_string *text)
{
	return ZSTR_LEN(text) >= 1 && ZSTR_LEN(text) <= DLOCK_STOCK_NAME_MAX;
}

bool dlock_stock_check_name(const zend_string *text, uint32_t arg)
{
	if (!is_name(text)) {
		zend_argument_value_error(arg, "must be between 1 and %d bytes long", DLOCK_STOCK_NAME_MAX);
		return false;
	}
	return true;
}

bool dlock_stock_check_sku(const dlock_stock_object *stock, const zend_string *sku, uint32_t arg)
{
	if (!dlock_stock_check_name(sku, arg)) {
		return false;
	}
	const char *problem = stock->stock->ops->refuse(stock->stock, dlock_arg_of(sku));
	if (problem) {
		zend_argument_value_error(arg, "%s", problem);
		return false;
	}
	return true;
}

/* The order owns the SKU from then on. */
static bool add_item(
	const dlock_stock_object *stock, dlock_stock_order *order, zend_string *sku, zend_long units, bool single)
{
	int i = order->order.count++;

	order->skus[i] = sku;
	order->order.skus[i] = dlock_arg_of(sku);
	order->order.units[i] = units;
	if (!single && !is_name(sku)) {
		zend_argument_value_error(1, "must have SKUs between 1 and %d bytes long as keys", DLOCK_STOCK_NAME_MAX);
		return false;
	}
	return dlock_stock_check_sku(stock, sku, 1);
}

/* 0 after an exception. */
static zend_long units_from(const zval *quantity)
{
	if (Z_TYPE_P(quantity) != IS_LONG) {
		zend_argument_type_error(1, "must have quantities of type int by SKU, %s given", zend_zval_type_name(quantity));
		return 0;
	}
	if (Z_LVAL_P(quantity) < 1 || Z_LVAL_P(quantity) > DLOCK_STOCK_MOST_UNITS) {
		zend_argument_value_error(1, "must have quantities between 1 and %d", DLOCK_STOCK_MOST_UNITS);
		return 0;
	}
	return Z_LVAL_P(quantity);
}

static bool add_items(const dlock_stock_object *stock, dlock_stock_order *order, HashTable *items)
{
	uint32_t count = zend_hash_num_elements(items);
	zend_string *name;
	zend_ulong index;
	zval *quantity;

	if (count < 1 || count > DLOCK_STOCKS_MAX) {
		zend_argument_value_error(1, "must be a SKU, or have quantities by SKU, of 1 to %d products", DLOCK_STOCKS_MAX);
		return false;
	}
	ZEND_HASH_FOREACH_KEY_VAL(items, index, name, quantity) {
		ZVAL_DEREF(quantity);
		zend_long units = units_from(quantity);
		if (units == 0
			|| !add_item(
				stock, order, name ? zend_string_copy(name) : zend_long_to_str((zend_long) index), units, false)) {
			return false;
		}
	} ZEND_HASH_FOREACH_END();
	if (!stock->stock->ops->is_together(stock->stock, order->order.skus, order->order.count)) {
		zend_argument_value_error(1,
			"must have products that share a hash slot of the cluster: give their keys the same part in braces, as in "
			"the prefix "
			"\"{sale}:\"");
		return false;
	}
	return true;
}

dlock_stock_order *dlock_stock_order_from(
	const dlock_stock_object *stock, HashTable *items, zend_string *sku, zend_string *buyer, zend_string *name)
{
	dlock_stock_order *order = ecalloc(1, sizeof *order);

	if (!(items ? add_items(stock, order, items) : add_item(stock, order, zend_string_copy(sku), 1, true))
			|| !dlock_stock_check_name(buyer, 2) || !dlock_stock_check_name(name, 3)) {
		dlock_stock_order_free(order);
		return NULL;
	}
	order->buyer = zend_string_copy(buyer);
	order->name = zend_string_copy(name);
	order->order.id = dlock_stock_order_id(dlock_arg_of(buyer), dlock_arg_of(name));
	order->order.generation = -1;
	return order;
}

bool dlock_stock_units_from(const dlock_stock_order *order, HashTable *items, int64_t units[DLOCK_STOCKS_MAX])
{
	bool same = zend_hash_num_elements(items) == (uint32_t) order->order.count;

	for (int i = 0; i < order->order.count; i++) {
		zval *quantity = zend_symtable_find(items, order->skus[i]);
		if (!same || !quantity) {
			zend_argument_value_error(
				1, "must have quantities for the products of the order, all of them and no others");
			return false;
		}
		ZVAL_DEREF(quantity);
		units[i] = units_from(quantity);
		if (units[i] == 0) {
			return false;
		}
	}
	return true;
}

void dlock_stock_items(zval *items, const dlock_stock_order *order)
{
	array_init(items);
	for (int i = 0; i < order->order.count; i++) {
		zval units;
		ZVAL_LONG(&units, (zend_long) order->order.units[i]);
		zend_symtable_update(Z_ARRVAL_P(items), order->skus[i], &units);
	}
}

/* ---- states ---- */

static const char *const cases[] = { [DLOCK_STATE_RESERVED] = "Reserved",
	[DLOCK_STATE_ENDED] = "Ended",
	[DLOCK_STATE_SOLD] = "Sold",
	[DLOCK_STATE_CANCELLED] = "Cancelled",
	[DLOCK_STATE_REFUNDED] = "Refunded" };

void dlock_stock_state(zval *value, dlock_order_state state)
{
	if (state == DLOCK_STATE_NONE) {
		ZVAL_NULL(value);
	} else {
		ZVAL_OBJ_COPY(value, zend_enum_get_case_cstr(dlock_ce_order_state, cases[state]));
	}
}

dlock_order_state dlock_stock_state_from(zend_object *object)
{
	const char *name = Z_STRVAL_P(zend_enum_fetch_case_name(object));

	for (dlock_order_state state = DLOCK_STATE_RESERVED; state <= DLOCK_STATE_REFUNDED; state++) {
		if (!strcmp(cases[state], name)) {
			return state;
		}
	}
	return DLOCK_STATE_NONE;
}

/* ---- exceptions ---- */

static dlock_shown show(const zend_string *text)
{
	return dlock_show(ZSTR_VAL(text), ZSTR_LEN(text));
}

static void set_long(zend_object *exception, const char *name, int64_t number)
{
	zend_update_property_long(exception->ce, exception, name, strlen(name), (zend_long) number);
}

void dlock_stock_throw_limited(
	const dlock_stock_order *order, const dlock_stock_answer *answer, int64_t limit, int64_t asked)
{
	dlock_error error;

	dlock_fail(&error, DLOCK_LOST,
		"The buyer \"%s\" already has %lld units of \"%s\" (reserved or sold); the limit is %lld, and %lld more were "
		"requested",
		show(order->buyer).text, (long long) answer->units, ZSTR_VAL(order->skus[answer->item]), (long long) limit,
		(long long) asked);
	zend_object *exception = dlock_throw_as(dlock_ce_limit_exceeded_exception, &error);
	if (exception) {
		zend_update_property_str(exception->ce, exception, ZEND_STRL("sku"), order->skus[answer->item]);
		set_long(exception, "limit", limit);
		set_long(exception, "has", answer->units);
		set_long(exception, "asked", asked);
	}
}

void dlock_stock_throw_conflict(const dlock_stock_order *order, const dlock_stock_answer *answer)
{
	const char *sku = ZSTR_VAL(order->skus[answer->item]);
	dlock_error error;

	if (answer->other_products) {
		dlock_fail(&error, DLOCK_LOST, "The order \"%s\" of \"%s\" is for other products than these",
			show(order->name).text, show(order->buyer).text);
	} else if (answer->outcome == DLOCK_STOCK_REFUSED && answer->reason == DLOCK_ORDER_NOT_SOLD) {
		dlock_fail(&error, DLOCK_LOST, "The order \"%s\" of \"%s\" is not sold: there is nothing to refund",
			show(order->name).text, show(order->buyer).text);
	} else {
		dlock_fail(&error, DLOCK_LOST, "The order \"%s\" of \"%s\" has %lld units of \"%s\"", show(order->name).text,
			show(order->buyer).text, (long long) answer->units, sku);
	}
	dlock_throw_as(dlock_ce_order_conflict_exception, &error);
}

typedef struct {
	const char *reason, *text;
	dlock_order_state state;
} reason_text;

static const reason_text reasons[] = {
	[DLOCK_ORDER_UNKNOWN] = { "unknown", "there is no such order", DLOCK_STATE_NONE },
	[DLOCK_ORDER_ENDED] = { "ended", "its time ended, and the units are not available any more", DLOCK_STATE_ENDED },
	[DLOCK_ORDER_CANCELLED] = { "cancelled", "it was cancelled", DLOCK_STATE_CANCELLED },
	[DLOCK_ORDER_REFUNDED] = { "refunded", "it was refunded", DLOCK_STATE_REFUNDED },
	[DLOCK_ORDER_SUPERSEDED] = { "superseded", "its name was reserved anew", DLOCK_STATE_NONE },
	[DLOCK_ORDER_LIMITED] = { "limit", "its time ended, and the buyer has as many units as it may have",
		DLOCK_STATE_ENDED },
	[DLOCK_ORDER_SOLD] = { "sold", "it is sold", DLOCK_STATE_SOLD },
	[DLOCK_ORDER_SHORT] = { "ended", "", DLOCK_STATE_ENDED },
};

void dlock_stock_throw_expired(const dlock_stock_order *order, const dlock_stock_answer *answer, const char *outcome)
{
	const reason_text *why = &reasons[answer->reason];
	double since = answer->since > 0 ? (double) answer->since / DLOCK_SECOND : 0;
	dlock_error error;
	zval state;

	dlock_fail(&error, DLOCK_LOST, "The order \"%s\" of \"%s\" has no units of \"%s\": %s%s", show(order->name).text,
		show(order->buyer).text, ZSTR_VAL(order->skus[answer->item]),
		answer->reason == DLOCK_ORDER_ENDED && *outcome == '\0' ? "its time ended" : why->text, outcome);
	zend_object *exception = dlock_throw_as(dlock_ce_reservation_expired_exception, &error);
	if (exception) {
		dlock_stock_state(&state, why->state);
		zend_update_property(exception->ce, exception, ZEND_STRL("state"), &state);
		zend_update_property_string(exception->ce, exception, ZEND_STRL("reason"), why->reason);
		zend_update_property_double(exception->ce, exception, ZEND_STRL("since"), since);
		zval_ptr_dtor(&state);
	}
}

void dlock_stock_throw_unknown(const char *sku)
{
	dlock_error error;

	dlock_fail(&error, DLOCK_LOST, "There is no stock of \"%s\": nothing was ever put in", sku);
	dlock_throw_as(dlock_ce_unknown_product_exception, &error);
}

/* ---- objects ---- */

enum { PROPERTY_STATE, PROPERTY_ITEMS, PROPERTY_BUYER, PROPERTY_ORDER, PROPERTY_AT, PROPERTY_REMAINING };

void dlock_order_create(zval *value, dlock_order_state state, zval *items, zend_string *buyer, zend_string *name,
	double at, double remaining)
{
	object_init_ex(value, dlock_ce_order);
	zend_object *object = Z_OBJ_P(value);
	dlock_stock_state(OBJ_PROP_NUM(object, PROPERTY_STATE), state);
	ZVAL_COPY_VALUE(OBJ_PROP_NUM(object, PROPERTY_ITEMS), items);
	ZVAL_STR(OBJ_PROP_NUM(object, PROPERTY_BUYER), buyer);
	ZVAL_STR(OBJ_PROP_NUM(object, PROPERTY_ORDER), name);
	ZVAL_DOUBLE(OBJ_PROP_NUM(object, PROPERTY_AT), at);
	if (state == DLOCK_STATE_RESERVED) {
		ZVAL_DOUBLE(OBJ_PROP_NUM(object, PROPERTY_REMAINING), remaining > 0 ? remaining : 0);
	} else {
		ZVAL_NULL(OBJ_PROP_NUM(object, PROPERTY_REMAINING));
	}
}
