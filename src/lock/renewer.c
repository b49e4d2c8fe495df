#include "renewer.h"

dlock_nanos dlock_renewal_timeout_cap(const dlock_server *server, dlock_nanos ttl)
{
	dlock_nanos part = 20 * DLOCK_MS;

	while (part < server->connect_timeout || part < server->read_timeout) {
		if (2 * part > ttl / 4) {
			return part;
		}
		part *= 2;
	}
	return DLOCK_FOREVER;
}
