#ifndef LUA_MEMORY_H
#define LUA_MEMORY_H

#include <lua.h>
#include <stdbool.h>

void lua_use_own_memory(lua_State *lua); /* from now on */

#endif
