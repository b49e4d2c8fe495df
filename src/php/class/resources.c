#include "resources.h"

#include "../classes.h"

/* ---- checks ---- */

static bool check_name(const dlock_manager *manager, zval *value, uint32_t arg)
{
	const dlock_backend *backend = manager->backend;
	const char *problem = NULL;

	ZVAL_DEREF(value);
	if (Z_TYPE_P(value) != IS_STRING) {
		zend_argument_type_error(arg, "must be of type string or a list of strings, but an element is of type %s",
			zend_zval_type_name(value));
		return false;
	}
	if (Z_STRLEN_P(value) == 0 || Z_STRLEN_P(value) > DLOCK_RESOURCE_MAX) {
		zend_argument_value_error(arg, "must have names between 1 and %d bytes long", DLOCK_RESOURCE_MAX);
		return false;
	}
	if (backend->ops->refuse) {
		problem = backend->ops->refuse(backend, Z_STRVAL_P(value), Z_STRLEN_P(value));
	}
	if (problem) {
		zend_argument_value_error(arg, "%s", problem);
	}
	return !problem;
}

/* `bytes`: the length of all names together. */
static bool check_list(const dlock_manager *manager, HashTable *list, uint32_t arg, size_t *bytes)
{
	zval *value;

	if (manager->std.ce == dlock_ce_read_write_lock_side) {
		zend_argument_value_error(arg,
			"must be one name: a read/write lock is of one resource; for several at once use DistributedLock");
		return false;
	}
	if (manager->backend->one_only) {
		zend_argument_value_error(arg, "%s", manager->backend->one_only);
		return false;
	}
	*bytes = 0;
	ZEND_HASH_FOREACH_VAL(list, value) {
		if (!check_name(manager, value, arg)) {
			return false;
		}
		ZVAL_DEREF(value);
		*bytes += Z_STRLEN_P(value);
	} ZEND_HASH_FOREACH_END();
	return true;
}

/* ---- names ---- */

/* Sorts the names by their bytes, and keeps each once. Returns how many are left. */
static int arrange(dlock_name *names, int count)
{
	int kept = 0;

	qsort(names, (size_t) count, sizeof *names, dlock_name_compare);
	for (int i = 0; i < count; i++) {
		if (kept == 0 || dlock_name_compare(&names[kept - 1], &names[i]) != 0) {
			names[kept++] = names[i];
		}
	}
	return kept;
}

bool dlock_resources_read(
	const dlock_manager *manager, const dlock_resource_argument *argument, uint32_t arg, dlock_resources *out)
{
	size_t bytes;
	zval *value;

	if (argument->one) {
		*out = dlock_one_resource(argument->one);
		return dlock_check_resource(manager, argument->one, arg);
	}
	if (!check_list(manager, argument->list, arg, &bytes)) {
		return false;
	}
	/* Copied, because a signal handler may change the array during the wait. */
	int count = (int) zend_hash_num_elements(argument->list);
	*out = (dlock_resources) { .list = safe_emalloc((size_t) count, sizeof *out->list, bytes) };
	char *room = (char *) (out->list + count);
	count = 0;
	ZEND_HASH_FOREACH_VAL(argument->list, value) {
		ZVAL_DEREF(value);
		out->list[count++] = (dlock_name) { memcpy(room, Z_STRVAL_P(value), Z_STRLEN_P(value)), Z_STRLEN_P(value) };
		room += Z_STRLEN_P(value);
	} ZEND_HASH_FOREACH_END();
	out->count = arrange(out->list, count);
	if (out->count == 0 || out->count > DLOCK_SEVERAL_MAX) {
		zend_argument_value_error(arg, "must have between 1 and %d names", DLOCK_SEVERAL_MAX);
		dlock_resources_free(out);
		return false;
	}
	return true;
}

void dlock_resources_free(dlock_resources *resources)
{
	if (resources->list) {
		efree(resources->list);
	}
}

dlock_shown dlock_resources_show(const dlock_resources *resources)
{
	const dlock_name *names = dlock_resource_names(resources);
	char text[2 * DLOCK_RESOURCE_MAX + 2]; /* the rest is not shown */
	size_t len = 0;

	if (resources->count == 1) {
		return dlock_show(names->text, names->len);
	}
	for (int i = 0; i < resources->count && len + 2 + names[i].len <= sizeof text; i++) {
		memcpy(text + len, ", ", i > 0 ? 2 : 0);
		len += i > 0 ? 2 : 0;
		memcpy(text + len, names[i].text, names[i].len);
		len += names[i].len;
	}
	return dlock_show(text, len);
}
