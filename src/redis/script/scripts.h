#ifndef DLOCK_REDIS_SCRIPTS_H
#define DLOCK_REDIS_SCRIPTS_H

#include "scripts_lua.h"

/* The scripts in lua/. The head of each file has its keys, arguments, reply and cost. */
typedef struct {
	const char *name;
	char sha1[41];
	const char *source;
} dlock_script;

#define DLOCK_SCRIPT_ID(id, name, sha1, source) DLOCK_SCRIPT_##id,
typedef enum { DLOCK_LUA_SCRIPTS(DLOCK_SCRIPT_ID) DLOCK_SCRIPTS } dlock_script_id;
#undef DLOCK_SCRIPT_ID

extern const dlock_script dlock_scripts[DLOCK_SCRIPTS];

#endif
