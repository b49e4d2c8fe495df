#include "reservation.h"

#include "../arguments.h"
#include "../../classes.h"
#include "../../request/errors.h"
#include "../../globals.h"
#include "stock_order.h"

typedef struct {
	dlock_stock_object *stock; /* it has a reference to its object */
	dlock_stock_order *order;
	dlock_nanos ttl;      /* the default of extend() */
	dlock_nanos deadline; /* until when its units are reserved; 0: not known, or not reserved;
							 DLOCK_FOREVER: sold */
	zend_object std;
} reservation_object;

enum { PROPERTY_ITEMS, PROPERTY_BUYER, PROPERTY_ORDER, PROPERTY_FENCING_TOKEN, PROPERTY_UNCERTAIN };

static zend_object_handlers handlers;

static reservation_object *reservation_from(zend_object *object)
{
	return (reservation_object *) ((char *) object - offsetof(reservation_object, std));
}

static zend_object *reservation_new(zend_class_entry *class)
{
	return dlock_class_new(sizeof(reservation_object), class, &handlers);
}

static void reservation_free(zend_object *object)
{
	reservation_object *reservation = reservation_from(object);

	if (reservation->stock) {
		dlock_stock_order_free(reservation->order);
		OBJ_RELEASE(&reservation->stock->std);
	}
	zend_object_std_dtor(object);
}

static double remaining(const reservation_object *reservation)
{
	if (reservation->deadline == DLOCK_FOREVER) {
		return ZEND_INFINITY;
	}
	dlock_nanos left = reservation->deadline - dlock_now();
	return left > 0 ? (double) left / DLOCK_SECOND : 0;
}

static HashTable *reservation_debug_info(zend_object *object, int *is_temporary)
{
	HashTable *info = zend_array_dup(zend_std_get_properties(object));
	zval value;

	ZVAL_DOUBLE(&value, remaining(reservation_from(object)));
	zend_hash_str_update(info, ZEND_STRL("remaining"), &value);
	*is_temporary = 1;
	return info;
}

void dlock_reservation_register(zend_class_entry *class)
{
	class->create_object = reservation_new;
	dlock_class_set_handlers(&handlers, offsetof(reservation_object, std), reservation_free, reservation_debug_info);
}

void dlock_reservation_create(
	zval *value, dlock_stock_object *stock, dlock_stock_order *order, dlock_nanos ttl, const dlock_stock_answer *answer)
{
	object_init_ex(value, dlock_ce_reservation);
	reservation_object *reservation = reservation_from(Z_OBJ_P(value));
	GC_ADDREF(&stock->std);
	reservation->stock = stock;
	reservation->order = order;
	reservation->ttl = ttl;
	if (answer) {
		reservation->deadline = answer->outcome == DLOCK_STOCK_SOLD ? DLOCK_FOREVER : answer->deadline;
		order->order.generation = answer->generation;
	}
	dlock_stock_items(OBJ_PROP_NUM(&reservation->std, PROPERTY_ITEMS), order);
	ZVAL_STR_COPY(OBJ_PROP_NUM(&reservation->std, PROPERTY_BUYER), order->buyer);
	ZVAL_STR_COPY(OBJ_PROP_NUM(&reservation->std, PROPERTY_ORDER), order->name);
	ZVAL_LONG(OBJ_PROP_NUM(&reservation->std, PROPERTY_FENCING_TOKEN), answer ? (zend_long) answer->fencing_token : 0);
	dlock_stock_uncertain(OBJ_PROP_NUM(&reservation->std, PROPERTY_UNCERTAIN), answer ? answer->uncertain : 0);
}

/* The reservation of $this. NULL after an Error: an extension has made it without a stock. */
static reservation_object *reservation_this(zval *object)
{
	reservation_object *reservation = reservation_from(Z_OBJ_P(object));

	if (!reservation->stock) {
		zend_throw_error(NULL, "Dlock\\Reservation: comes from Dlock\\Stock::reserve() and reservation()");
		return NULL;
	}
	return reservation;
}

/* Reads the answer to a call about the order. False after an exception: the call has failed, or the order was refused
 * or differs. `outcome`: the end of the message about a refused order. */
static bool check_answer(reservation_object *reservation, dlock_status status, const dlock_error *error,
	const dlock_stock_answer *answer, const char *outcome)
{
	if (status != DLOCK_OK) {
		dlock_throw(status, error, NULL);
		return false;
	}
	dlock_stock_uncertain(OBJ_PROP_NUM(&reservation->std, PROPERTY_UNCERTAIN), answer->uncertain);
	if (answer->outcome == DLOCK_STOCK_CONFLICT) {
		dlock_stock_throw_conflict(reservation->order, answer);
	} else if (answer->outcome == DLOCK_STOCK_REFUSED) {
		reservation->deadline = answer->reason == DLOCK_ORDER_SOLD ? DLOCK_FOREVER : 0;
		dlock_stock_throw_expired(reservation->order, answer, outcome);
	}
	return !EG(exception);
}

ZEND_METHOD(Dlock_Reservation, remaining)
{
	ZEND_PARSE_PARAMETERS_NONE();
	RETURN_DOUBLE(remaining(reservation_from(Z_OBJ_P(ZEND_THIS))));
}

ZEND_METHOD(Dlock_Reservation, status)
{
	dlock_order_status status[DLOCK_STOCKS_MAX];
	dlock_nanos asked;
	dlock_error error;

	ZEND_PARSE_PARAMETERS_NONE();
	reservation_object *reservation = reservation_this(ZEND_THIS);
	if (!reservation) {
		RETURN_THROWS();
	}
	dlock_stock *stock = reservation->stock->stock;
	dlock_status outcome = stock->ops->look(
		stock, &reservation->order->order, status, &asked, &error);
	if (outcome != DLOCK_OK) {
		dlock_throw(outcome, &error, NULL);
		RETURN_THROWS();
	}
	dlock_stock_state(return_value, status[0].state);
}

ZEND_METHOD(Dlock_Reservation, extend)
{
	double seconds = 0;
	bool is_null = true;
	dlock_nanos ttl;
	dlock_stock_answer answer;
	dlock_error error;

	ZEND_PARSE_PARAMETERS_START(0, 1)
		Z_PARAM_OPTIONAL
		Z_PARAM_DOUBLE_OR_NULL(seconds, is_null)
	ZEND_PARSE_PARAMETERS_END();

	reservation_object *reservation = reservation_this(ZEND_THIS);
	if (!reservation || (!is_null && !dlock_check_ttl(seconds, DLOCK_ANY_TTL, 1, &ttl))) {
		RETURN_THROWS();
	}
	ttl = is_null ? reservation->ttl : ttl;
	dlock_stock *stock = reservation->stock->stock;
	dlock_status status = stock->ops->extend(
		stock, &reservation->order->order, ttl, &answer, &error);
	if (check_answer(reservation, status, &error, &answer, "")) {
		reservation->deadline = answer.deadline > reservation->deadline ? answer.deadline : reservation->deadline;
	}
}

ZEND_METHOD(Dlock_Reservation, confirm)
{
	dlock_stock_answer answer;
	dlock_error error;

	ZEND_PARSE_PARAMETERS_NONE();
	reservation_object *reservation = reservation_this(ZEND_THIS);
	if (!reservation) {
		RETURN_THROWS();
	}
	dlock_stock *stock = reservation->stock->stock;
	dlock_status status = stock->ops->confirm(
		stock, &reservation->order->order, reservation->stock->per_buyer, &answer, &error);
	DLOCK_G(counters).expired_refusals += status == DLOCK_OK && answer.outcome == DLOCK_STOCK_REFUSED;
	if (!check_answer(reservation, status, &error, &answer, "; nothing was bought")) {
		RETURN_THROWS();
	}
	reservation->deadline = DLOCK_FOREVER;
	DLOCK_G(counters).sales += answer.outcome == DLOCK_STOCK_DONE;
	DLOCK_G(counters).late_sales += answer.outcome == DLOCK_STOCK_DONE && answer.late;
	RETURN_BOOL(answer.outcome == DLOCK_STOCK_DONE);
}

ZEND_METHOD(Dlock_Reservation, cancel)
{
	dlock_stock_answer answer;
	dlock_error error;

	ZEND_PARSE_PARAMETERS_NONE();
	reservation_object *reservation = reservation_this(ZEND_THIS);
	if (!reservation) {
		RETURN_THROWS();
	}
	dlock_stock *stock = reservation->stock->stock;
	dlock_status status = stock->ops->cancel(stock, &reservation->order->order, &answer, &error);
	if (status == DLOCK_OK && answer.outcome == DLOCK_STOCK_REFUSED) {
		reservation->deadline = answer.reason == DLOCK_ORDER_SOLD ? DLOCK_FOREVER : 0;
		RETURN_FALSE;
	}
	if (!check_answer(reservation, status, &error, &answer, "")) {
		RETURN_THROWS();
	}
	reservation->deadline = 0;
	DLOCK_G(counters).cancellations += answer.outcome == DLOCK_STOCK_DONE;
	RETURN_BOOL(answer.outcome == DLOCK_STOCK_DONE);
}

/* False after an exception. */
static bool check_part(const reservation_object *reservation, zend_long quantity, bool all, const zend_string *change)
{
	if (all) {
		return true;
	}
	if (quantity < 1 || quantity > DLOCK_STOCK_MOST_UNITS) {
		zend_argument_value_error(2, "must be null or between 1 and %d", DLOCK_STOCK_MOST_UNITS);
	} else if (reservation->order->order.count > 1) {
		zend_argument_value_error(2, "must be null for an order of several products");
	} else if (!change) {
		zend_argument_value_error(3, "must be given with a $quantity, so that the refund is made once");
	} else {
		return dlock_stock_check_name(change, 3);
	}
	return false;
}

ZEND_METHOD(Dlock_Reservation, refund)
{
	zval *restock = NULL;
	bool all = true;
	zend_long quantity = 0;
	zend_string *change = NULL;
	dlock_stock_answer answer;
	dlock_error error;

	ZEND_PARSE_PARAMETERS_START(0, 3)
		Z_PARAM_OPTIONAL
		Z_PARAM_ZVAL(restock)
		Z_PARAM_LONG_OR_NULL(quantity, all)
		Z_PARAM_STR_OR_NULL(change)
	ZEND_PARSE_PARAMETERS_END();

	/* Without strict_types, refund(1) would refund the whole order, and not one unit. */
	if (restock && Z_TYPE_P(restock) != IS_TRUE && Z_TYPE_P(restock) != IS_FALSE) {
		zend_argument_type_error(1, "must be of type bool, %s given", zend_zval_type_name(restock));
		RETURN_THROWS();
	}

	reservation_object *reservation = reservation_this(ZEND_THIS);
	if (!reservation || !check_part(reservation, quantity, all, change)) {
		RETURN_THROWS();
	}
	dlock_stock *stock = reservation->stock->stock;
	dlock_status status = stock->ops->refund(stock, &reservation->order->order,
		!restock || Z_TYPE_P(restock) == IS_TRUE, all ? 0 : quantity, all ? (dlock_arg){ "", 0 } : dlock_arg_of(change),
		&answer, &error);
	if (status == DLOCK_OK && answer.outcome == DLOCK_STOCK_REFUSED
			&& (answer.reason == DLOCK_ORDER_NOT_SOLD || answer.reason == DLOCK_ORDER_SMALLER)) {
		dlock_stock_throw_conflict(reservation->order, &answer);
		RETURN_THROWS();
	}
	if (!check_answer(reservation, status, &error, &answer, "")) {
		RETURN_THROWS();
	}
	if (all) {
		reservation->deadline = 0;
	}
	DLOCK_G(counters).refunds += answer.outcome == DLOCK_STOCK_DONE;
	RETURN_BOOL(answer.outcome == DLOCK_STOCK_DONE);
}

static void throw_short(const dlock_stock_order *order, const dlock_stock_answer *answer)
{
	dlock_error error;

	dlock_fail(&error, DLOCK_LOST, "Too few units of \"%s\" are available: the order \"%s\" of \"%s\" stays as it was",
		ZSTR_VAL(order->skus[answer->item]), dlock_show(ZSTR_VAL(order->name), ZSTR_LEN(order->name)).text,
		dlock_show(ZSTR_VAL(order->buyer), ZSTR_LEN(order->buyer)).text);
	dlock_throw_as(dlock_ce_out_of_stock_exception, &error);
}

ZEND_METHOD(Dlock_Reservation, change)
{
	HashTable *items;
	dlock_stock_answer answer;
	dlock_error error;

	ZEND_PARSE_PARAMETERS_START(1, 1)
		Z_PARAM_ARRAY_HT(items)
	ZEND_PARSE_PARAMETERS_END();

	reservation_object *reservation = reservation_this(ZEND_THIS);
	if (!reservation) {
		RETURN_THROWS();
	}
	dlock_order changed = reservation->order->order;
	if (!dlock_stock_units_from(reservation->order, items, changed.units)) {
		RETURN_THROWS();
	}
	dlock_stock *stock = reservation->stock->stock;
	dlock_status status = stock->ops->change(
		stock, &changed, reservation->stock->per_buyer, &answer, &error);
	if (!check_answer(reservation, status, &error, &answer, "")) {
		RETURN_THROWS();
	}
	if (answer.outcome == DLOCK_STOCK_SHORT) {
		throw_short(reservation->order, &answer);
	} else if (answer.outcome == DLOCK_STOCK_LIMITED) {
		int64_t more = changed.units[answer.item] - reservation->order->order.units[answer.item];
		dlock_stock_throw_limited(reservation->order, &answer, reservation->stock->per_buyer, more);
	} else {
		zval *property = OBJ_PROP_NUM(&reservation->std, PROPERTY_ITEMS), before;
		memcpy(reservation->order->order.units, changed.units, sizeof changed.units);
		ZVAL_COPY_VALUE(&before, property);
		dlock_stock_items(property, reservation->order);
		zval_ptr_dtor(&before);
		reservation->deadline = answer.deadline;
	}
}
