#include "scripts.h"

#define ROW(id, name, sha1, source) [DLOCK_SCRIPT_##id] = { name, sha1, source },

const dlock_script dlock_scripts[DLOCK_SCRIPTS] = { DLOCK_LUA_SCRIPTS(ROW) };
