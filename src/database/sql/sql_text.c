#include "sql_text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sql_generated.h"

static bool is_part_of_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

char *dlock_db_in_schema(const char *sql, const char *schema)
{
	static const char name[] = "dlock";
	size_t len = strlen(schema), size = strlen(sql) + 1, at = 0;

	for (const char *found = strstr(sql, name); found; found = strstr(found + 1, name)) {
		size += len;
	}
	char *out = malloc(size);
	for (const char *from = sql; out && *from; ) {
		bool is_name = !strncmp(from, name, sizeof name - 1) && !is_part_of_name(from[sizeof name - 1])
			&& (from == sql || !is_part_of_name(from[-1]));
		if (is_name) {
			memcpy(out + at, schema, len);
			at += len;
			from += sizeof name - 1;
		} else {
			out[at++] = *from++;
		}
	}
	if (out) {
		out[at] = '\0';
	}
	return out;
}
