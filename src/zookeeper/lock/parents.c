/* The nodes above a claim's nodes, which the first claims create: chroot, root and the resource's node. */

#include "claim.h"

#include <stdlib.h>
#include <string.h>

/* DLOCK_OK: *rc is the result. */
static dlock_status make(dlock_zk_session *session, const char *path, const struct ACL_vector *acl, int mode,
	const dlock_wait *wait, int *rc, dlock_error *error)
{
	dlock_zk_op *op = dlock_zk_create(session, &(char *) { (char *) path }, 1, "", acl, mode);
	dlock_status status = dlock_zk_response(op, wait, error);

	*rc = status == DLOCK_OK ? op->rc : ZOK;
	dlock_zk_op_release(op);
	return status;
}

/* Creates every component of `path`, from the top. A component may exist even if the client has no right to create it:
 * the next request shows that. *rc is the last result. Other users share these nodes, but must not take the rights to
 * them from those who made them. */
static dlock_status make_path(dlock_zk_session *session, const char *path, const dlock_wait *wait, int *rc,
	dlock_error *error)
{
	dlock_status status = DLOCK_OK;
	struct ACL shared[] = { { ZOO_PERM_ALL, ZOO_AUTH_IDS },
		{ ZOO_PERM_READ | ZOO_PERM_CREATE | ZOO_PERM_DELETE, ZOO_ANYONE_ID_UNSAFE } };
	const struct ACL_vector own = { 2, shared }, *acl = session->auth ? &own : &ZOO_OPEN_ACL_UNSAFE;
	char *part = strdup(path);
	bool refused = false;

	*rc = ZOK;
	if (!part) {
		return dlock_out_of_memory(error);
	}
	for (size_t end = 1; status == DLOCK_OK && path[end];) {
		end += strcspn(path + end, "/");
		part[end] = '\0';
		status = make(session, part, acl, ZOO_PERSISTENT, wait, rc, error);
		refused |= *rc == ZNOAUTH;
		if (*rc != ZOK && *rc != ZNODEEXISTS && *rc != ZNOAUTH) {
			*rc = refused && *rc == ZNONODE ? ZNOAUTH : *rc;
			break;
		}
		if (path[end]) {
			part[end++] = '/';
		}
	}
	free(part);
	return status;
}

/* A client cannot create anything from within a chroot that does not exist, so this uses a session without the
 * chroot. */
static dlock_status make_chroot(dlock_zk_pool *pool, dlock_zk_session *session, const dlock_wait *wait,
	dlock_error *error)
{
	const char *chroot = dlock_zk_hosts_chroot(session->hosts);
	char *hosts = strndup(session->hosts, (size_t) (chroot - session->hosts));
	dlock_nanos left = 0;
	int rc = ZOK;

	if (!hosts) {
		return dlock_out_of_memory(error);
	}
	dlock_zk_session *outside = dlock_zk_pool_session(pool, hosts, session->asked, session->auth, error);
	free(hosts);
	if (!outside) {
		return DLOCK_CONNECTION;
	}
	dlock_status status = dlock_zk_session_connect(outside, DLOCK_FOREVER, &left, wait, error);
	if (status == DLOCK_OK) {
		status = make_path(outside, chroot, wait, &rc, error);
	}
	if (status == DLOCK_LOST) {
		status = DLOCK_OK; /* the caller tries again */
	} else if (status == DLOCK_OK && rc != ZOK && rc != ZNODEEXISTS) {
		status = dlock_zk_failure(outside, rc, chroot, error);
	}
	if (outside->process == dlock_process_current() && outside->references <= 2) { /* the pool's and this function's */
		dlock_zk_pool_discard(pool, outside);
	}
	dlock_zk_session_release(outside);
	return status;
}

dlock_status dlock_zk_make_parents(dlock_zk_pool *pool, dlock_zk_session *session, const char *root, const char *parent,
	const dlock_wait *wait, dlock_error *error)
{
	const struct ACL_vector *acl = session->auth ? &ZOO_CREATOR_ALL_ACL : &ZOO_OPEN_ACL_UNSAFE;
	int rc, mode = ZOO_CONTAINER;
	bool made_root = false, refused = false, made_chroot = dlock_zk_hosts_chroot(session->hosts)[0] == '\0';

	for (;;) {
		dlock_status status = make(session, parent, acl, mode, wait, &rc, error);
		if (status != DLOCK_OK) {
			return status;
		}
		if (rc == ZUNIMPLEMENTED && mode == ZOO_CONTAINER) {
			mode = ZOO_PERSISTENT;
		} else if (rc == ZNONODE && !made_root) {
			status = make_path(session, root, wait, &rc, error);
			refused = rc == ZNOAUTH;
			if (status == DLOCK_OK && (rc == ZNONODE || root[1] == '\0') && !made_chroot) {
				status = make_chroot(pool, session, wait, error);
				made_chroot = true;
			} else {
				made_root = true;
			}
			if (status != DLOCK_OK) {
				return status;
			}
		} else {
			if (rc == ZNONODE && refused) {
				return dlock_zk_failure(session, ZNOAUTH, root, error);
			}
			return rc == ZOK || rc == ZNODEEXISTS ? DLOCK_OK : dlock_zk_failure(session, rc, parent, error);
		}
	}
}
