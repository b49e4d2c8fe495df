#ifndef DLOCK_ZK_DIAGNOSIS_H
#define DLOCK_ZK_DIAGNOSIS_H

#include "../../net/channel.h"
#include "../../net/loop.h"

/* Why there is no connection: the library keeps that to itself, so this opens one by hand. The first host stands for
 * all: one reason to start from is more help than a list. Zeroed, none is under way. */
typedef struct {
	dlock_source source;
	dlock_loop *loop;
	dlock_endpoint *server; /* NULL: none is under way */
	dlock_channel channel;
	dlock_nanos until;
} dlock_zk_diagnosis;

/* Begins it, or goes on with it; takes `budget` at most. True: it has ended, and `reason` is where the host can be
 * reached and why not. */
bool dlock_zk_diagnose(dlock_zk_diagnosis *diagnosis, const char *hosts, dlock_nanos budget, dlock_loop *loop,
	dlock_nanos now, char *reason, size_t size);

void dlock_zk_diagnosis_end(dlock_zk_diagnosis *diagnosis);

#endif
