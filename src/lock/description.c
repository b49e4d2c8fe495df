#include "description.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool may_be_in_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-'
		|| c == '_' || c == ':';
}

static bool continues_character(char c)
{
	return ((unsigned char) c & 0xc0) == 0x80;
}

dlock_description *dlock_description_new(const char *host, const char *label, size_t label_len)
{
	dlock_description *description = calloc(1, sizeof *description);
	size_t len = 0;

	if (!description) {
		return NULL;
	}
	atomic_init(&description->references, 1);
	for (; host[len] && len < DLOCK_HOST_MAX; len++) {
		description->text[len] = may_be_in_name(host[len]) ? host[len] : '?';
	}
	if (len == 0) {
		description->text[len++] = '?';
	}
	if (label) {
		size_t cut = label_len < DLOCK_LABEL_MAX ? label_len : DLOCK_LABEL_MAX;
		while (cut < label_len && cut > 0 && continues_character(label[cut])) {
			cut--;
		}
		description->text[len++] = ' ';
		memcpy(description->text + len, label, cut);
	}
	return description;
}

dlock_description *dlock_description_retain(dlock_description *description)
{
	if (description) {
		atomic_fetch_add_explicit(&description->references, 1, memory_order_relaxed);
	}
	return description;
}

void dlock_description_release(dlock_description *description)
{
	if (description && atomic_fetch_sub_explicit(&description->references, 1, memory_order_acq_rel) == 1) {
		free(description);
	}
}
