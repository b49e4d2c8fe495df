#ifndef DLOCK_REDIS_SCRIPTS_H
#define DLOCK_REDIS_SCRIPTS_H

/* What is said to Redis. The scripts are in lua/, each with its keys, arguments, reply and cost. */
typedef struct {
	const char *source;
	char sha1[41];
} dlock_script;

extern const dlock_script dlock_script_acquire;
extern const dlock_script dlock_script_release;
extern const dlock_script dlock_script_leave;
extern const dlock_script dlock_script_extend;
extern const dlock_script dlock_script_renew;
extern const dlock_script dlock_script_check;
extern const dlock_script dlock_script_raise;
extern const dlock_script dlock_script_repair;
extern const dlock_script dlock_script_exchange;

#endif
