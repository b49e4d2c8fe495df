/* Made from src/redis/lua by scripts/gen-lua.sh: change the scripts there. */

#define DLOCK_LUA_ACQUIRE_SHA1 "a3c9d4679ea7e5e991296d5fdbcce0b4d444cf35"
#define DLOCK_LUA_ACQUIRE \
	"local lock, fence = KEYS[1], KEYS[2]\n" \
	"local token, ttl, proposal = ARGV[1], ARGV[2], tonumber(ARGV[3])\n" \
	"if not redis.call('SET', lock, token, 'NX', 'PX', ttl) then\n" \
	"if redis.call('GET', lock) ~= token then\n" \
	"return {0, redis.call('PTTL', lock)}\n" \
	"end\n" \
	"redis.call('PEXPIRE', lock, ttl)\n" \
	"end\n" \
	"if proposal == 0 then\n" \
	"local now = redis.call('TIME')\n" \
	"proposal = now[1] * 1000000 + now[2]\n" \
	"end\n" \
	"local last = redis.call('GETSET', fence, proposal)\n" \
	"if last and tonumber(last) >= proposal then\n" \
	"proposal = last + 1\n" \
	"redis.call('SET', fence, proposal)\n" \
	"end\n" \
	"return {1, proposal}\n"

#define DLOCK_LUA_CHECK_SHA1 "856bcf98af659bd07190069636a9007682159036"
#define DLOCK_LUA_CHECK \
	"if redis.call('GET', KEYS[1]) == ARGV[1] then\n" \
	"return redis.call('PTTL', KEYS[1])\n" \
	"end\n" \
	"return 0\n"

#define DLOCK_LUA_EXTEND_SHA1 "16ebdef962b7604790808b70c6e41c9785770b46"
#define DLOCK_LUA_EXTEND \
	"if redis.call('GET', KEYS[1]) == ARGV[1] then\n" \
	"return redis.call('PEXPIRE', KEYS[1], ARGV[2])\n" \
	"end\n" \
	"return 0\n"

#define DLOCK_LUA_RAISE_SHA1 "b15f8229e6b51084908df444f7146944317f3192"
#define DLOCK_LUA_RAISE \
	"if redis.call('GET', KEYS[1]) ~= ARGV[1] then\n" \
	"return 0\n" \
	"end\n" \
	"if tonumber(redis.call('GET', KEYS[2]) or 0) < tonumber(ARGV[2]) then\n" \
	"redis.call('SET', KEYS[2], ARGV[2])\n" \
	"end\n" \
	"return 1\n"

#define DLOCK_LUA_RELEASE_SHA1 "6464896d65aee3443fb048d4e9d84b8f23d7df91"
#define DLOCK_LUA_RELEASE \
	"if redis.call('GET', KEYS[1]) == ARGV[1] then\n" \
	"return redis.call('DEL', KEYS[1])\n" \
	"end\n" \
	"return 0\n"
