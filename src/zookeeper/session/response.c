#include "response.h"

bool dlock_zk_is_loss(int rc)
{
	return rc == ZCONNECTIONLOSS || rc == ZOPERATIONTIMEOUT || rc == ZRUNTIMEINCONSISTENCY || rc == ZSESSIONMOVED;
}

bool dlock_zk_is_dead(int rc)
{
	return rc == ZSESSIONEXPIRED || rc == ZINVALIDSTATE || rc == ZCLOSING || rc == ZAUTHFAILED;
}

dlock_status dlock_zk_failure(const dlock_zk_session *session, int rc, const char *path, dlock_error *error)
{
	const char *what = zerror(rc);

	if (dlock_zk_is_loss(rc) || dlock_zk_is_dead(rc)) {
		return DLOCK_OK;
	}
	switch (rc) {
		case ZNOAUTH:
			what = session->auth ? "these credentials have no right to it"
								 : "there is no right to it without credentials";
			break;
		case ZINVALIDACL:
			what = "the server does not accept these credentials in an access list";
			break;
		case ZUNIMPLEMENTED:
			what = "the server is too old (3.5 or later is needed)";
			break;
		case ZNONODE:
			what = "it disappears as soon as it is made";
			break;
	}
	return dlock_fail(error, DLOCK_CONNECTION, "ZooKeeper at %.150s: %.150s: %s", session->hosts, path, what);
}

dlock_status dlock_zk_no_response(dlock_zk_session *session, dlock_error *error)
{
	if (dlock_zk_session_view(session).state != DLOCK_ZK_CONNECTED) {
		return dlock_zk_session_no_connection(session, error);
	}
	return dlock_fail(error, DLOCK_CONNECTION, "ZooKeeper at %.200s: no answer within %g s", session->hosts,
		(double) session->asked / DLOCK_SECOND);
}

dlock_status dlock_zk_response(dlock_zk_op *op, const dlock_wait *wait, dlock_error *error)
{
	if (!op) {
		return dlock_out_of_memory(error);
	}
	dlock_nanos until = dlock_after(dlock_now(), op->session->asked);
	dlock_status status = dlock_zk_session_await(op->session, (dlock_zk_rest) { .done = &op->done }, until, wait);
	return status == DLOCK_TIMEOUT ? dlock_zk_no_response(op->session, error) : status;
}

dlock_status dlock_zk_response_or_repeat(dlock_zk_op **op, const char *path, const dlock_wait *wait, dlock_error *error)
{
	dlock_status status = dlock_zk_response(*op, wait, error);

	if (status == DLOCK_OK && ((*op)->rc == ZOK || (*op)->rc == ZNONODE)) {
		return DLOCK_OK;
	}
	if (status == DLOCK_OK) {
		status = dlock_zk_failure((*op)->session, (*op)->rc, path, error);
	}
	dlock_zk_op_release(*op);
	*op = NULL;
	return status;
}
