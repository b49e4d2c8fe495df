#include "lease.h"

#include "../../lock/renewal.h"
#include "../classes.h"
#include "../request/ending.h"
#include "../request/errors.h"
#include "../globals.h"
#include "../request/handle.h"
#include "arguments.h"

#include "zend_enum.h"
#include "zend_exceptions.h"
#include "zend_smart_str.h"

typedef struct {
	dlock_hold *hold; /* NULL: the lease is detached */
	zend_object std;
} lease_object;

enum { PROPERTY_RESOURCE, PROPERTY_RESOURCES, PROPERTY_TOKEN, PROPERTY_FENCING_TOKEN, PROPERTY_PERMITS };

static zend_object_handlers handlers;

static lease_object *lease_from(zend_object *object)
{
	return (lease_object *) ((char *) object - offsetof(lease_object, std));
}

static zend_object *lease_new(zend_class_entry *class)
{
	return dlock_class_new(sizeof(lease_object), class, &handlers);
}

static void lease_free(zend_object *object)
{
	lease_object *lease = lease_from(object);

	if (lease->hold) {
		dlock_hold_discard(lease->hold);
	}
	zend_object_std_dtor(object);
}

static const char *state_name(const lease_object *lease, dlock_nanos *remaining)
{
	*remaining = 0;
	if (!lease->hold) {
		return "Released";
	}
	switch (dlock_hold_refresh(lease->hold, remaining)) {
	case DLOCK_CLAIM_HELD:
		return "Held";
	case DLOCK_CLAIM_UNCERTAIN:
		return "Uncertain";
	case DLOCK_CLAIM_RELEASED:
		return "Released";
	default:
		return "Lost";
	}
}

/* Without the token: dumps go to logs and error reports, and with the token any process could release the lock. Code
 * can still read the property. */
static HashTable *shown_properties(zend_object *object)
{
	HashTable *shown = zend_array_dup(zend_std_get_properties(object));

	zend_hash_str_del(shown, ZEND_STRL("token"));
	return shown;
}

/* All other purposes show all properties. One of them is get_object_vars(), for which only later versions of PHP 8.4
 * call this handler. */
static HashTable *lease_properties_for(zend_object *object, zend_prop_purpose purpose)
{
	switch (purpose) {
	case ZEND_PROP_PURPOSE_ARRAY_CAST:
	case ZEND_PROP_PURPOSE_SERIALIZE:
	case ZEND_PROP_PURPOSE_VAR_EXPORT:
	case ZEND_PROP_PURPOSE_JSON:
		return shown_properties(object);
	default:
		return zend_std_get_properties_for(object, purpose);
	}
}

static HashTable *lease_debug_info(zend_object *object, int *is_temporary)
{
	lease_object *lease = lease_from(object);
	HashTable *info = shown_properties(object);
	dlock_nanos remaining;
	zval value;

	ZVAL_STRING(&value, state_name(lease, &remaining));
	zend_hash_str_update(info, ZEND_STRL("state"), &value);
	ZVAL_DOUBLE(&value, (double) remaining / DLOCK_SECOND);
	zend_hash_str_update(info, ZEND_STRL("remaining"), &value);
	*is_temporary = 1;
	return info;
}

void dlock_lease_register(zend_class_entry *class)
{
	class->create_object = lease_new;
	dlock_class_set_handlers(&handlers, offsetof(lease_object, std), lease_free, lease_debug_info);
	handlers.get_properties_for = lease_properties_for;
}

static void add_names(HashTable *list, const dlock_resources *resources, const zval *resource)
{
	const dlock_name *names = dlock_resource_names(resources);
	zval name;

	for (int i = 0; i < resources->count; i++) {
		if (resources->count == 1) {
			ZVAL_COPY(&name, resource);
		} else {
			ZVAL_STRINGL(&name, names[i].text, names[i].len);
		}
		zend_hash_next_index_insert_new(list, &name);
	}
}

/* If the lock was entered once more, the caller may have asked for a part of the names, and with another prefix. */
static zend_string *join_names(const dlock_resources *resources)
{
	const dlock_name *names = dlock_resource_names(resources);
	smart_str text = { 0 };

	for (int i = 0; i < resources->count; i++) {
		smart_str_appends(&text, i > 0 ? ", " : "");
		smart_str_appendl(&text, names[i].text, names[i].len);
	}
	return smart_str_extract(&text);
}

void dlock_lease_create(zval *value, dlock_hold *hold, const dlock_resources *resources)
{
	const dlock_claim *claim = hold->entry.claim;

	object_init_ex(value, dlock_ce_lease);
	lease_object *lease = lease_from(Z_OBJ_P(value));

	zval *resource = OBJ_PROP_NUM(&lease->std, PROPERTY_RESOURCE);
	ZVAL_STR(resource, join_names(resources));
	array_init_size(OBJ_PROP_NUM(&lease->std, PROPERTY_RESOURCES), (uint32_t) resources->count);
	add_names(Z_ARRVAL_P(OBJ_PROP_NUM(&lease->std, PROPERTY_RESOURCES)), resources, resource);
	ZVAL_STRINGL(OBJ_PROP_NUM(&lease->std, PROPERTY_TOKEN), claim->token, strlen(claim->token));
	ZVAL_LONG(OBJ_PROP_NUM(&lease->std, PROPERTY_FENCING_TOKEN), (zend_long) claim->fencing_token);
	ZVAL_LONG(OBJ_PROP_NUM(&lease->std, PROPERTY_PERMITS),
		claim->permits < DLOCK_PERMITS_ALL ? (zend_long) claim->permits : 1);
	/* Last, because the registry must own the hold if memory runs out above. */
	lease->hold = hold;
	hold->owned = true;
}

dlock_hold *dlock_lease_hold(zval *lease)
{
	return lease_from(Z_OBJ_P(lease))->hold;
}

/* Looks in memory only; may find a loss. */
static bool refresh_held(lease_object *lease, dlock_nanos *remaining)
{
	*remaining = 0;
	if (!lease->hold) {
		return false;
	}
	dlock_claim_state state = dlock_hold_refresh(lease->hold, remaining);
	return state == DLOCK_CLAIM_HELD || state == DLOCK_CLAIM_UNCERTAIN;
}

ZEND_METHOD(Dlock_Lease, __construct)
{
	/* Private: leases come from LockManager::acquire(). Without an object, PHP calls it as a shutdown function
	 * (ending.c). */
	(void) return_value;
	ZEND_PARSE_PARAMETERS_NONE();
	if (Z_TYPE(EX(This)) != IS_OBJECT) {
		dlock_ending_reached();
	}
}

ZEND_METHOD(Dlock_Lease, state)
{
	dlock_nanos remaining;

	ZEND_PARSE_PARAMETERS_NONE();
	const char *name = state_name(lease_from(Z_OBJ_P(ZEND_THIS)), &remaining);
	RETURN_OBJ_COPY(zend_enum_get_case_cstr(dlock_ce_lease_state, name));
}

ZEND_METHOD(Dlock_Lease, isHeld)
{
	dlock_nanos remaining;

	ZEND_PARSE_PARAMETERS_NONE();
	RETURN_BOOL(refresh_held(lease_from(Z_OBJ_P(ZEND_THIS)), &remaining));
}

ZEND_METHOD(Dlock_Lease, remaining)
{
	dlock_nanos remaining;

	ZEND_PARSE_PARAMETERS_NONE();
	refresh_held(lease_from(Z_OBJ_P(ZEND_THIS)), &remaining);
	RETURN_DOUBLE((double) remaining / DLOCK_SECOND);
}

static void throw_lost(lease_object *lease)
{
	dlock_nanos remaining;
	/* An extension may have made the object without its constructor. Then it has no name either. */
	const zval *resource = OBJ_PROP_NUM(&lease->std, PROPERTY_RESOURCE);
	const char *what = !strcmp(state_name(lease, &remaining), "Released") ? "has been released or detached"
		: dlock_claim_is_mine(lease->hold->entry.claim) ? "was lost" : "is not held by this process but by its parent";

	if (lease->hold) {
		dlock_hold_loss_told(lease->hold, 0);
	}
	bool named = Z_TYPE_P(resource) == IS_STRING;
	dlock_throw_lost(named ? Z_STRVAL_P(resource) : "", named ? Z_STRLEN_P(resource) : 0, what);
}

ZEND_METHOD(Dlock_Lease, assertHeld)
{
	dlock_nanos remaining;

	(void) return_value;
	ZEND_PARSE_PARAMETERS_NONE();
	lease_object *lease = lease_from(Z_OBJ_P(ZEND_THIS));
	if (!refresh_held(lease, &remaining)) {
		throw_lost(lease);
	}
}

/* A detached lease has no range of its own: refresh() refuses it later. */
static dlock_ttl_range ttls_of(const lease_object *lease)
{
	return lease->hold ? dlock_backend_ttls(lease->hold->entry.claim->backend) : DLOCK_ANY_TTL;
}

ZEND_METHOD(Dlock_Lease, refresh)
{
	double seconds = 0;
	bool is_null = true;
	dlock_nanos ttl, remaining;
	dlock_error error;

	ZEND_PARSE_PARAMETERS_START(0, 1)
		Z_PARAM_OPTIONAL
		Z_PARAM_DOUBLE_OR_NULL(seconds, is_null)
	ZEND_PARSE_PARAMETERS_END();

	lease_object *lease = lease_from(Z_OBJ_P(ZEND_THIS));
	if (!is_null && lease->hold && lease->hold->entry.claim->backend->ops->session_lease) {
		zend_argument_value_error(1, "must be null: with ZooKeeper the session is the lease");
		RETURN_THROWS();
	}
	if (!is_null && !dlock_check_ttl(seconds, ttls_of(lease), 1, &ttl)) {
		RETURN_THROWS();
	}
	if (!refresh_held(lease, &remaining)) {
		throw_lost(lease);
		RETURN_THROWS();
	}
	dlock_nanos longest = lease->hold->entry.claim->ttl;
	if (is_null || (ttl < longest && dlock_hold_is_shared(lease->hold))) {
		ttl = longest;
	}
	dlock_status status = dlock_hold_extend(lease->hold, ttl, &error);
	if (status != DLOCK_OK) {
		if (status == DLOCK_LOST) {
			dlock_hold_loss_told(lease->hold, 0);
		}
		dlock_throw(status, &error, lease->hold->entry.claim->backend);
	}
}

ZEND_METHOD(Dlock_Lease, release)
{
	dlock_error error;

	ZEND_PARSE_PARAMETERS_NONE();
	lease_object *lease = lease_from(Z_OBJ_P(ZEND_THIS));
	if (!lease->hold || lease->hold->has_left || lease->hold->entry.claim->state == DLOCK_CLAIM_RELEASED) {
		RETURN_FALSE;
	}
	dlock_status status = dlock_hold_release(lease->hold, &error);
	dlock_registry_remove(&DLOCK_G(registry), &lease->hold->entry);
	if (status != DLOCK_OK && status != DLOCK_LOST) {
		dlock_throw(status, &error, lease->hold->entry.claim->backend);
		RETURN_THROWS();
	}
	RETURN_BOOL(status == DLOCK_OK);
}

ZEND_METHOD(Dlock_Lease, detach)
{
	dlock_nanos remaining;
	dlock_error error;

	ZEND_PARSE_PARAMETERS_NONE();
	lease_object *lease = lease_from(Z_OBJ_P(ZEND_THIS));
	if (!refresh_held(lease, &remaining)) {
		throw_lost(lease);
		RETURN_THROWS();
	}
	if (lease->hold->is_acquired_now) {
		zend_throw_exception(dlock_ce_exception, "The lease waits in upgrade() and cannot be handed over meanwhile", 0);
		RETURN_THROWS();
	}
	dlock_claim *claim = lease->hold->entry.claim;
	if (!claim->backend->ops->detachable) {
		zend_throw_exception(dlock_ce_exception,
			"A lease on ZooKeeper cannot be handed over: its session stays with this process", 0);
		RETURN_THROWS();
	}
	if (claim->backend->ops->is_spread && claim->backend->ops->is_spread(claim->backend, claim->names, claim->count)) {
		zend_throw_exception(dlock_ce_exception,
			"A lease on several slots of a cluster cannot be handed over: give all names the same hash tag, as "
			"\"{cart:7}:a\" and \"{cart:7}:b\" have",
			0);
		RETURN_THROWS();
	}
	if (dlock_hold_is_shared(lease->hold)) {
		zend_throw_exception(dlock_ce_exception,
			"A lease cannot be handed over while its lock has been acquired more than once: release the others first",
			0);
		RETURN_THROWS();
	}
	/* A lease that is as short as a grant needs its requested lease time first. A lease time that is still on its way
	 * must not arrive after the handle is attached. */
	dlock_status status = atomic_load(&claim->short_lease) ? dlock_hold_extend(lease->hold, claim->ttl, &error)
		: claim->unacknowledged_ttl > 0 ? dlock_hold_check(lease->hold, &error) : DLOCK_OK;
	if (status == DLOCK_LOST) {
		throw_lost(lease);
		RETURN_THROWS();
	}
	if (status != DLOCK_OK && atomic_load(&claim->short_lease)) {
		dlock_throw(status, &error, claim->backend);
		RETURN_THROWS();
	}
	zend_string *handle = dlock_handle_make(claim);
	dlock_renewal_end(claim, false); /* released leases of the lock may keep the claim in memory */
	dlock_hold_free(lease->hold);
	lease->hold = NULL;
	RETURN_STR(handle);
}

/* ---- readers and writers ---- */

/* False after an exception. */
static bool check_changes(lease_object *lease)
{
	dlock_nanos remaining;

	if (!refresh_held(lease, &remaining)) {
		throw_lost(lease);
		return false;
	}
	const dlock_backend *backend = lease->hold->entry.claim->backend;
	if (backend->capacity != DLOCK_PERMITS_ALL) {
		zend_throw_error(NULL, "Only a lease of Dlock\\ReadWriteLock is a reader's or a writer's");
		return false;
	}
	if (lease->hold->is_acquired_now) {
		zend_throw_exception(dlock_ce_exception, "The lease waits in upgrade() already", 0);
		return false;
	}
	if (!backend->ops->upgrade) {
		zend_throw_exception(dlock_ce_exception,
			"On ZooKeeper a reader cannot become the writer, nor a writer a reader: release, then acquire", 0);
		return false;
	}
	return true;
}

static void throw_unchanged(lease_object *lease, dlock_status status, const dlock_error *error)
{
	if (status == DLOCK_LOST) {
		throw_lost(lease);
	} else if (!EG(exception)) {
		dlock_throw(status, error, lease->hold->entry.claim->backend);
	}
}

ZEND_METHOD(Dlock_Lease, upgrade)
{
	double seconds = 0;
	bool is_null = true;
	dlock_nanos timeout;
	dlock_error error;

	(void) return_value;
	ZEND_PARSE_PARAMETERS_START(0, 1)
		Z_PARAM_OPTIONAL
		Z_PARAM_DOUBLE_OR_NULL(seconds, is_null)
	ZEND_PARSE_PARAMETERS_END();

	lease_object *lease = lease_from(Z_OBJ_P(ZEND_THIS));
	if (!check_changes(lease) || !dlock_check_timeout(seconds, is_null, lease->hold->timeout, 1, &timeout)) {
		RETURN_THROWS();
	}
	const dlock_claim *claim = lease->hold->entry.claim;
	if (claim->permits >= DLOCK_PERMITS_ALL) {
		return;
	}
	lease->hold->is_acquired_now = true; /* a signal handler must not free it meanwhile */
	dlock_status status = dlock_manager_upgrade(lease->hold, timeout, &error);
	lease->hold->is_acquired_now = false;
	if (status != DLOCK_OK) {
		throw_unchanged(lease, status, &error);
		RETURN_THROWS();
	}
	ZVAL_LONG(OBJ_PROP_NUM(&lease->std, PROPERTY_FENCING_TOKEN), (zend_long) claim->fencing_token);
}

ZEND_METHOD(Dlock_Lease, downgrade)
{
	dlock_error error;

	(void) return_value;
	ZEND_PARSE_PARAMETERS_NONE();
	lease_object *lease = lease_from(Z_OBJ_P(ZEND_THIS));
	if (!check_changes(lease)) {
		RETURN_THROWS();
	}
	dlock_status status = dlock_hold_downgrade(lease->hold, &error);
	if (status != DLOCK_OK) {
		throw_unchanged(lease, status, &error);
		RETURN_THROWS();
	}
}
