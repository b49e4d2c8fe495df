#include "handle.h"

#include "../../net/endpoint/endpoint.h"

#include "ext/hash/php_hash.h"
#include "ext/hash/php_hash_sha.h"
#include "ext/standard/base64.h"
#include "zend_smart_str.h"

/* A handle is "dlock1." and, in base64url, a digest and then kind|ttl in ms|flags|token|resource. The flags are 1 for a
 * renewed lease plus 2 for several resources, each of which has its length and a colon in front. When a handle is
 * attached, the servers tell the remaining time and the next fencing token.
 *
 * A process that knows a handle controls the lock, as with the token in it. A handle works once, because attaching
 * replaces the token. The digest is no signature: it tells a handle that was cut or altered from one whose lease has
 * ended. It contains no secret that it could reveal. */

#define PREFIX "dlock1."
enum { DIGEST_LEN = 16 };

static void digest(const char *text, size_t len, unsigned char out[32])
{
	PHP_SHA256_CTX context;

	PHP_SHA256InitArgs(&context, NULL);
	PHP_SHA256Update(&context, (const unsigned char *) PREFIX, sizeof PREFIX - 1);
	PHP_SHA256Update(&context, (const unsigned char *) text, len);
	PHP_SHA256Final(out, &context);
}

static void translate(char *text, const char *from, const char *to)
{
	for (; *text; text++) {
		const char *found = strchr(from, *text);
		if (found) {
			*text = to[found - from];
		}
	}
}

static zend_string *encode(zend_string *raw)
{
	zend_string *encoded = php_base64_encode((unsigned char *) ZSTR_VAL(raw), ZSTR_LEN(raw));
	size_t len = strcspn(ZSTR_VAL(encoded), "=");

	translate(ZSTR_VAL(encoded), "+/", "-_");
	zend_string *handle = zend_string_concat2(PREFIX, sizeof PREFIX - 1, ZSTR_VAL(encoded), len);
	zend_string_release(encoded);
	return handle;
}

/* Accepts only what encode() makes. The decoder alone would ignore white space and unused bits. */
static zend_string *decode(zend_string *handle)
{
	zend_string *encoded = zend_string_init(
		ZSTR_VAL(handle) + sizeof PREFIX - 1, ZSTR_LEN(handle) - (sizeof PREFIX - 1), 0);

	translate(ZSTR_VAL(encoded), "-_", "+/");
	zend_string *raw = php_base64_decode_ex((unsigned char *) ZSTR_VAL(encoded), ZSTR_LEN(encoded), 1);
	zend_string_release(encoded);
	zend_string *again = raw ? encode(raw) : NULL;
	bool same = again && zend_string_equals(again, handle);
	if (again) {
		zend_string_release(again);
	}
	if (raw && !same) {
		zend_string_release(raw);
	}
	return same ? raw : NULL;
}

enum { RENEWED = 1, SEVERAL = 2 };

zend_string *dlock_handle_make(const dlock_claim *claim)
{
	unsigned char hash[32];
	smart_str text = { 0 };
	bool several = claim->count > 1;

	smart_str_append_printf(&text, "%s|" ZEND_LONG_FMT "|%d|%s|", claim->backend->kind,
		(zend_long) (claim->ttl / DLOCK_MS), (claim->renewed ? RENEWED : 0) + (several ? SEVERAL : 0), claim->token);
	for (int i = 0; i < claim->count; i++) {
		if (several) {
			smart_str_append_printf(&text, "%zu:", claim->names[i].len);
		}
		smart_str_appendl(&text, claim->names[i].text, claim->names[i].len);
	}
	zend_string *payload = smart_str_extract(&text);
	digest(ZSTR_VAL(payload), ZSTR_LEN(payload), hash);

	zend_string *raw = zend_string_concat2((char *) hash, DIGEST_LEN, ZSTR_VAL(payload), ZSTR_LEN(payload));
	zend_string *handle = encode(raw);
	zend_string_release(raw);
	zend_string_release(payload);
	return handle;
}

/* The next field, up to a bar. */
static bool field(const char **text, const char *end, const char **start, size_t *len)
{
	const char *bar = memchr(*text, '|', (size_t) (end - *text));

	if (!bar) {
		return false;
	}
	*start = *text;
	*len = (size_t) (bar - *text);
	*text = bar + 1;
	return true;
}

static bool number(const char *text, size_t len, int64_t *out)
{
	if (len == 0 || len > 17) { /* more digits could overflow */
		return false;
	}
	*out = 0;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9') {
			return false;
		}
		*out = *out * 10 + (text[i] - '0');
	}
	return true;
}

static void say_class(const char *class, const char *server, dlock_error *error)
{
	dlock_fail(error, DLOCK_FAILED, "must be a handle of the same kind of lock; this one is for %s%s", class, server);
}

/* Says of which class the handle is. `kind`: what the handle calls its back end. */
static void refuse_kind(const char *kind, size_t len, dlock_error *error)
{
	static const struct {
		const char *kind, *class;
	} known[] = {
		{ "single", "DistributedLock" }, { "quorum", "RedLock" }, { "semaphore", "Dlock\\Semaphore" },
		{ "read", "readLock() of Dlock\\ReadWriteLock" }, { "write", "writeLock() of Dlock\\ReadWriteLock" },
	};

	say_class("another class", "", error);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (len == strlen(known[i].kind) && !memcmp(kind, known[i].kind, len)) {
			say_class(known[i].class, "", error);
		}
	}
	for (size_t i = 0; i < DLOCK_ENDPOINT_KINDS; i++) {
		const dlock_server_kind *server = &dlock_server_kinds[i];
		if (len == strlen(server->name) && !memcmp(kind, server->name, len)) {
			say_class("DistributedLock on ", server->title, error);
		}
	}
}

/* Returns how many names there are; 0: the text is no list of several, as dlock_handle_make() writes it. */
static int read_names(const char *text, const char *end, dlock_name names[DLOCK_SEVERAL_MAX])
{
	int count = 0;
	int64_t len;

	while (text < end) {
		const char *colon = memchr(text, ':', (size_t) (end - text));
		if (!colon || count == DLOCK_SEVERAL_MAX || !number(text, (size_t) (colon - text), &len) || len < 1
			|| len > DLOCK_RESOURCE_MAX || len > end - colon - 1) {
			return 0;
		}
		names[count] = (dlock_name) { colon + 1, (size_t) len };
		if (count > 0 && dlock_name_compare(&names[count - 1], &names[count]) >= 0) {
			return 0;
		}
		count++;
		text = colon + 1 + len;
	}
	return count > 1 ? count : 0;
}

static bool has_several(const dlock_backend *backend, const dlock_name *names, int count)
{
	return !backend->one_only && !(backend->ops->is_spread && backend->ops->is_spread(backend, names, count));
}

static dlock_claim *read_payload(
	const char *text, size_t len, dlock_backend *backend, char token[DLOCK_TOKEN_MAX + 1], dlock_error *error)
{
	const char *end = text + len, *kind, *ttl, *how, *old;
	size_t kind_len, ttl_len, how_len, old_len;
	int64_t milliseconds, flags = 0;
	dlock_name names[DLOCK_SEVERAL_MAX];

	if (!field(&text, end, &kind, &kind_len) || !field(&text, end, &ttl, &ttl_len) || !field(&text, end, &how, &how_len)
		|| !field(&text, end, &old, &old_len) || !number(ttl, ttl_len, &milliseconds) || !number(how, how_len, &flags)
		|| flags > RENEWED + SEVERAL || milliseconds == 0 || milliseconds > DLOCK_TTL_MAX / DLOCK_MS || text == end
		|| (!(flags & SEVERAL) && end - text > DLOCK_RESOURCE_MAX)) {
		dlock_fail(error, DLOCK_FAILED, "must be a handle from Lease::detach(), but its content makes no sense");
		return NULL;
	}
	if (kind_len != strlen(backend->kind) || memcmp(kind, backend->kind, kind_len)) {
		refuse_kind(kind, kind_len, error);
		return NULL;
	}
	if (!backend->ops->detachable) { /* the session is the lease: detach() makes no handle of it */
		dlock_fail(error, DLOCK_FAILED, "must be a handle of a lock that can be handed over, which a ZkLock cannot");
		return NULL;
	}
	if (!dlock_is_token(old, old_len, backend->ops->legacy_tokens)) {
		dlock_fail(
			error, DLOCK_FAILED, "must be a handle from Lease::detach(), but its token is none of this kind of lock");
		return NULL;
	}
	memcpy(token, old, old_len);
	token[old_len] = '\0';
	int count = flags & SEVERAL ? read_names(text, end, names) : 1;
	names[0] = flags & SEVERAL ? names[0] : (dlock_name) { text, (size_t) (end - text) };
	if (count == 0 || (count > 1 && !has_several(backend, names, count))) {
		dlock_fail(error, DLOCK_FAILED, "must be a handle of one lock, or of a back end that has several at once");
		return NULL;
	}
	dlock_claim *claim = dlock_claim_new_of(backend, names, count, milliseconds * DLOCK_MS, NULL, error);
	if (claim) {
		claim->renewed = flags & RENEWED;
	}
	return claim;
}

dlock_claim *dlock_handle_open(
	zend_string *handle, dlock_backend *backend, char token[DLOCK_TOKEN_MAX + 1], dlock_error *error)
{
	unsigned char hash[32];
	zend_string *raw;
	dlock_claim *claim = NULL;

	if (ZSTR_LEN(handle) < sizeof PREFIX || memcmp(ZSTR_VAL(handle), PREFIX, sizeof PREFIX - 1)) {
		dlock_fail(error, DLOCK_FAILED, "must be a handle from Lease::detach(), which begins with \"" PREFIX "\"");
		return NULL;
	}
	raw = decode(handle);
	if (raw && ZSTR_LEN(raw) > DIGEST_LEN) {
		digest(ZSTR_VAL(raw) + DIGEST_LEN, ZSTR_LEN(raw) - DIGEST_LEN, hash);
	}
	if (!raw || ZSTR_LEN(raw) <= DIGEST_LEN || memcmp(hash, ZSTR_VAL(raw), DIGEST_LEN)) {
		dlock_fail(error, DLOCK_FAILED, "must be a handle from Lease::detach(), but it was cut or altered");
	} else {
		claim = read_payload(ZSTR_VAL(raw) + DIGEST_LEN, ZSTR_LEN(raw) - DIGEST_LEN, backend, token, error);
	}
	if (raw) {
		zend_string_release(raw);
	}
	return claim;
}
