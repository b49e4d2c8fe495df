#include "upkeep.h"

#include <stdio.h>
#include <stdlib.h>

#include "../../src/lock/renewal_thread.h"
#include "helpers.h"

void count_loss(void *context)
{
	atomic_fetch_add(&((ward *) context)->losses, 1);
}

void ward_begin(ward *ward, client *client, const char *resource, int ttl_ms, int soon_ms, dlock_upkeep upkeep)
{
	ward->claim = claim_on(client, resource, ttl_ms);
	atomic_store(&ward->losses, 0);
	dlock_status status = acquire(client, ward->claim, 60000);
	if (soon_ms > 0) {
		ward->claim->deadline = dlock_now() + soon_ms * DLOCK_MS;
	}
	if (status != DLOCK_OK || dlock_renewal_begin(ward->claim, &upkeep, &client->error) != DLOCK_OK) {
		printf("Bail out! %s: %s\n", resource, client->error.message);
		exit(2);
	}
}

void renew_now(dlock_claim *claim)
{
	dlock_renewal_thread_lock();
	claim->renewal->due = dlock_now();
	dlock_renewal_thread_wake();
	dlock_renewal_thread_unlock();
}

static bool is_renewing(void *claim)
{
	dlock_renewal_thread_lock();
	const dlock_renewal *renewal = ((dlock_claim *) claim)->renewal;
	bool renewing = renewal->busy && dlock_renewal_is_asking(renewal);
	dlock_renewal_thread_unlock();
	return renewing;
}

bool eventually_renewing(dlock_claim *claim)
{
	return eventually(is_renewing, claim);
}

void request_ttl(dlock_claim *claim, int ttl_ms)
{
	dlock_renewal_thread_lock();
	claim->renewal->ttl = ttl_ms * DLOCK_MS;
	dlock_renewal_thread_unlock();
}

void let_expire(dlock_claim *claim)
{
	dlock_renewal_thread_lock();
	atomic_store(&claim->deadline, dlock_now());
	dlock_renewal_thread_wake();
	dlock_renewal_thread_unlock();
}

unsigned long renewals(void)
{
	return dlock_renewal_count().renewals;
}

static bool has_renewed(void *least)
{
	return renewals() >= *(unsigned long *) least;
}

bool renewed_since(unsigned long before, unsigned long count)
{
	unsigned long least = before + count;

	return eventually(has_renewed, &least);
}

static bool has_failed(void *least)
{
	return dlock_renewal_count().failures >= *(unsigned long *) least;
}

bool failed_since(unsigned long before, unsigned long count)
{
	unsigned long least = before + count;

	return eventually(has_failed, &least);
}

bool renews(dlock_claim *claim)
{
	unsigned long before = renewals();

	renew_now(claim);
	return renewed_since(before, 1);
}

static bool is_told(void *context)
{
	return atomic_load(&((ward *) context)->losses) > 0;
}

bool eventually_lost(ward *ward)
{
	return eventually(is_told, ward);
}

static bool has_threads(void *count)
{
	return count_threads() == *(int *) count;
}

bool eventually_threads(int count)
{
	return eventually(has_threads, &count);
}

void know_scripts(test_server *server)
{
	static const dlock_script_id scripts[] = { DLOCK_SCRIPT_ACQUIRE, DLOCK_SCRIPT_RELEASE, DLOCK_SCRIPT_EXTEND,
		DLOCK_SCRIPT_RENEW, DLOCK_SCRIPT_REPAIR };

	for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
		server_text(server, "SCRIPT LOAD %s", dlock_scripts[scripts[i]].source);
	}
}

void reset_knowing(test_server *servers, int count)
{
	for (int i = 0; i < count; i++) {
		server_reset(&servers[i]);
		know_scripts(&servers[i]);
	}
}

long overreach_ms(test_server *server, const dlock_claim *claim)
{
	dlock_nanos deadline = atomic_load(&claim->deadline);
	long long left = server_integer(server, "PTTL " PREFIX "%b", claim->resource, claim->resource_len);

	if (deadline == DLOCK_OVER) {
		return 0;
	}
	return (long) ((deadline - dlock_now()) / DLOCK_MS) - (long) (left > 0 ? left : 0);
}
