#include "scripts.h"

#include "scripts_lua.h"

const dlock_script dlock_script_acquire = { DLOCK_LUA_ACQUIRE, DLOCK_LUA_ACQUIRE_SHA1 };
const dlock_script dlock_script_release = { DLOCK_LUA_RELEASE, DLOCK_LUA_RELEASE_SHA1 };
const dlock_script dlock_script_leave = { DLOCK_LUA_LEAVE, DLOCK_LUA_LEAVE_SHA1 };
const dlock_script dlock_script_extend = { DLOCK_LUA_EXTEND, DLOCK_LUA_EXTEND_SHA1 };
const dlock_script dlock_script_renew = { DLOCK_LUA_RENEW, DLOCK_LUA_RENEW_SHA1 };
const dlock_script dlock_script_check = { DLOCK_LUA_CHECK, DLOCK_LUA_CHECK_SHA1 };
const dlock_script dlock_script_raise = { DLOCK_LUA_RAISE, DLOCK_LUA_RAISE_SHA1 };
const dlock_script dlock_script_repair = { DLOCK_LUA_REPAIR, DLOCK_LUA_REPAIR_SHA1 };
const dlock_script dlock_script_exchange = { DLOCK_LUA_EXCHANGE, DLOCK_LUA_EXCHANGE_SHA1 };
