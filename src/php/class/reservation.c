#include "reservation.h"

#include "../classes.h"
#include "../errors.h"
#include "arguments.h"

#include "zend_exceptions.h"

typedef struct {
	dlock_stock_object *stock; /* whose object it has a reference to */
	dlock_stock_order *order;
	dlock_nanos ttl;      /* of extend() without one */
	dlock_nanos deadline; /* until when nobody else gets the pieces; 0: not known, or not this reservation's; DLOCK_FOREVER: bought */
	zend_object std;
} reservation_object;

enum { PROPERTY_ARTICLES, PROPERTY_BUYER, PROPERTY_REQUEST, PROPERTY_FENCING_TOKEN };

static zend_object_handlers handlers;

static reservation_object *reservation_from(zend_object *object)
{
	return (reservation_object *) ((char *) object - offsetof(reservation_object, std));
}

static zend_object *reservation_new(zend_class_entry *class)
{
	reservation_object *reservation = zend_object_alloc(sizeof *reservation, class);

	zend_object_std_init(&reservation->std, class);
	object_properties_init(&reservation->std, class);
	reservation->std.handlers = &handlers;
	return &reservation->std;
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
	memcpy(&handlers, zend_get_std_object_handlers(), sizeof handlers);
	handlers.offset = offsetof(reservation_object, std);
	handlers.free_obj = reservation_free;
	handlers.clone_obj = NULL;
	handlers.get_debug_info = reservation_debug_info;
}

void dlock_reservation_create(zval *value, dlock_stock_object *stock, dlock_stock_order *order, dlock_nanos ttl, const dlock_stock_answer *answer)
{
	zval articles;

	object_init_ex(value, dlock_ce_reservation);
	reservation_object *reservation = reservation_from(Z_OBJ_P(value));
	GC_ADDREF(&stock->std);
	reservation->stock = stock;
	reservation->order = order;
	reservation->ttl = ttl;
	if (answer) {
		reservation->deadline = answer->outcome == DLOCK_STOCK_BOUGHT ? DLOCK_FOREVER : answer->deadline;
	}
	array_init(&articles);
	for (int i = 0; i < order->order.count; i++) {
		zval pieces;
		ZVAL_LONG(&pieces, (zend_long) order->order.pieces[i]);
		zend_symtable_update(Z_ARRVAL(articles), order->articles[i], &pieces);
	}
	ZVAL_COPY_VALUE(OBJ_PROP_NUM(&reservation->std, PROPERTY_ARTICLES), &articles);
	ZVAL_STR_COPY(OBJ_PROP_NUM(&reservation->std, PROPERTY_BUYER), order->buyer);
	ZVAL_STR_COPY(OBJ_PROP_NUM(&reservation->std, PROPERTY_REQUEST), order->request);
	ZVAL_LONG(OBJ_PROP_NUM(&reservation->std, PROPERTY_FENCING_TOKEN), answer ? (zend_long) answer->fencing_token : 0);
}

/* The reservation of $this, or NULL after an exception where an extension has made it without a stock. */
static reservation_object *reservation_this(zval *object)
{
	reservation_object *reservation = reservation_from(Z_OBJ_P(object));

	if (!reservation->stock) {
		zend_throw_error(NULL, "Dlock\\Reservation: comes from Dlock\\Stock::reserve() and reservation()");
		return NULL;
	}
	return reservation;
}

static void throw_expired(reservation_object *reservation, const dlock_stock_answer *answer, const char *why)
{
	const dlock_stock_order *order = reservation->order;
	dlock_error error;

	reservation->deadline = 0;
	dlock_fail(&error, DLOCK_LOST, "The reservation \"%s\" of \"%s\" has no pieces of \"%s\": %s",
		dlock_show(ZSTR_VAL(order->request), ZSTR_LEN(order->request)).text,
		dlock_show(ZSTR_VAL(order->buyer), ZSTR_LEN(order->buyer)).text,
		ZSTR_VAL(order->articles[answer->article]), why);
	dlock_throw_as(dlock_ce_reservation_expired_exception, &error);
}

ZEND_METHOD(Dlock_Reservation, __construct)
{
	/* Private: reservations come from Dlock\Stock. */
	(void) return_value;
	ZEND_PARSE_PARAMETERS_NONE();
}

ZEND_METHOD(Dlock_Reservation, remaining)
{
	ZEND_PARSE_PARAMETERS_NONE();
	RETURN_DOUBLE(remaining(reservation_from(Z_OBJ_P(ZEND_THIS))));
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
	dlock_status status = dlock_stock_extend(reservation->stock->stock, &reservation->order->order, ttl, &answer, &error);
	if (status != DLOCK_OK) {
		dlock_throw(status, &error, NULL);
	} else if (answer.outcome == DLOCK_STOCK_RESERVED) {
		reservation->deadline = answer.deadline > reservation->deadline ? answer.deadline : reservation->deadline;
	} else {
		bool bought = reservation->deadline == DLOCK_FOREVER;
		throw_expired(reservation, &answer, "it was cancelled, or bought, or they were given to others when its time was over");
		reservation->deadline = bought ? DLOCK_FOREVER : 0;
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
	dlock_status status = dlock_stock_confirm(reservation->stock->stock, &reservation->order->order, &answer, &error);
	if (status != DLOCK_OK) {
		dlock_throw(status, &error, NULL);
		RETURN_THROWS();
	}
	if (answer.outcome == DLOCK_STOCK_GONE) {
		throw_expired(reservation, &answer, "it was cancelled, or they were given to others when its time was over; nothing was bought");
		RETURN_THROWS();
	}
	reservation->deadline = DLOCK_FOREVER;
	RETURN_BOOL(answer.outcome == DLOCK_STOCK_RESERVED);
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
	dlock_status status = dlock_stock_cancel(reservation->stock->stock, &reservation->order->order, &answer, &error);
	if (status != DLOCK_OK) {
		dlock_throw(status, &error, NULL);
		RETURN_THROWS();
	}
	reservation->deadline = reservation->deadline == DLOCK_FOREVER ? DLOCK_FOREVER : 0;
	RETURN_BOOL(answer.outcome == DLOCK_STOCK_RESERVED);
}
