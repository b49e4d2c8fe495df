#include "result.h"

#ifndef THREADED
#define THREADED
#endif
#include <zookeeper/zookeeper.h>

bool dlock_zk_is_loss(int rc)
{
	return rc == ZCONNECTIONLOSS || rc == ZOPERATIONTIMEOUT || rc == ZRUNTIMEINCONSISTENCY || rc == ZSESSIONMOVED;
}

bool dlock_zk_is_dead(int rc)
{
	return rc == ZSESSIONEXPIRED || rc == ZINVALIDSTATE || rc == ZCLOSING || rc == ZAUTHFAILED;
}
