-- dlock on PostgreSQL: tables and functions, version 1 of the protocol. Their owner runs this file in the database of
-- the locks, and may run it again. Then: GRANT dlock_user TO the role of the application. docs/database.md explains how
-- it works.
--
-- A lock has a row for each grant, of which the row with the highest fencing token counts. A search from that end of
-- the index finds it as fast while an old snapshot (a report, a dump) keeps the rows before it from being removed. A
-- single row that is updated would not be found as fast.
--
-- All tables except dlock.guard are UNLOGGED: nothing is written to the log. A crash, a promotion and a restored backup
-- empty them all at once, dlock.era with them. Then an epoch begins, in which no lock is granted until its guard is
-- over, which is at least as long as any lease.
--
-- Each function that changes a lock first acquires an advisory lock: changes of one name follow one another.
BEGIN;
SET LOCAL client_min_messages = warning;
SELECT pg_advisory_xact_lock(hashtext('dlock'), hashtext('create'));
CREATE SCHEMA IF NOT EXISTS dlock;

DO $create$
BEGIN
	IF to_regclass('dlock.era') IS NOT NULL THEN
		RETURN;
	END IF;
	CREATE UNLOGGED TABLE dlock.locks (
		name bytea NOT NULL,
		fence bigint NOT NULL, -- the fencing token
		token text NOT NULL,   -- the owner's
		expires timestamptz NOT NULL,
		served bigint NOT NULL, -- ticket of the last waiter that got it: the queue begins behind it
		said bytea NOT NULL,    -- its host's name and label, for people
		PRIMARY KEY (name, fence)
	) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 2000);
	CREATE UNLOGGED TABLE dlock.waiters (
		name bytea NOT NULL,
		ticket bigint NOT NULL,
		token text NOT NULL,
		inbox text NOT NULL,   -- the channel on which it listens
		pid int NOT NULL,      -- of its session, which has the advisory lock (waiters, pid) for as long as it lasts
		number bigint NOT NULL, -- of its last request
		sign timestamptz NOT NULL, -- its last sign of life
		said bytea NOT NULL,
		PRIMARY KEY (name, ticket)
	) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.0, autovacuum_vacuum_threshold = 2000);
	CREATE UNLOGGED TABLE dlock.era (
		one boolean PRIMARY KEY DEFAULT true CHECK (one),
		line text NOT NULL, -- the timeline, and this table: a dump that is restored has another one
		settles timestamptz NOT NULL,
		guard_ms bigint NOT NULL
	);
	CREATE TABLE dlock.guard (one boolean PRIMARY KEY DEFAULT true CHECK (one), ms bigint NOT NULL); -- logged: the longest that was ever announced
	INSERT INTO dlock.guard (ms) VALUES (0);
	-- There cannot be a lease yet.
	INSERT INTO dlock.era (line, settles, guard_ms)
		VALUES (left(pg_walfile_name(pg_current_wal_lsn()), 8) || '.' || 'dlock.era'::regclass::oid, clock_timestamp(), 0);
END
$create$;

-- A name that is too long for an index is cut, and ends in its digest. So it is longer than names that are not cut.
CREATE OR REPLACE FUNCTION dlock.cut_1(p_name bytea) RETURNS bytea LANGUAGE sql IMMUTABLE AS
	$$ SELECT CASE WHEN octet_length(p_name) <= 222 THEN p_name ELSE substr(p_name, 1, 223) || sha256(p_name) END $$;

-- The ms until locks are granted; 0: they are granted now. If the epoch is missing, or of another timeline, one begins
-- now.
CREATE OR REPLACE FUNCTION dlock.unsettled_1(p_guard_ms bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	e record;
	g bigint;
	v_line text := left(pg_walfile_name(pg_current_wal_lsn()), 8) || '.' || 'dlock.era'::regclass::oid;
BEGIN
	SELECT ms INTO STRICT g FROM dlock.guard;
	IF p_guard_ms > g THEN
		UPDATE dlock.guard SET ms = p_guard_ms WHERE ms < p_guard_ms;
		g := p_guard_ms;
	END IF;
	INSERT INTO dlock.era AS o (line, settles, guard_ms) VALUES (v_line, clock_timestamp() + g * interval '1 ms', g)
		ON CONFLICT (one) DO UPDATE SET line = excluded.line, guard_ms = excluded.guard_ms,
			settles = CASE WHEN o.line <> excluded.line THEN excluded.settles ELSE o.settles END
		WHERE o.line <> excluded.line OR o.guard_ms < excluded.guard_ms;
	SELECT * INTO STRICT e FROM dlock.era;
	IF e.settles <= clock_timestamp() THEN
		RETURN 0;
	END IF;
	RETURN greatest(1, ceil(extract(epoch FROM e.settles - clock_timestamp()) * 1000))::bigint;
END
$$;

-- Replaces the newest row by the next grant. NULL: not yet, because a transaction relies on that row (dlock.assert()).
CREATE OR REPLACE FUNCTION dlock.put_1(l dlock.locks, p_name bytea, p_token text, p_ttl_ms bigint, p_served bigint, p_said bytea) RETURNS bigint
	LANGUAGE plpgsql AS $$
DECLARE
	t timestamptz := clock_timestamp();
	f bigint := greatest(coalesce(l.fence, 0) + 1, (extract(epoch FROM t) * 1e6)::bigint);
BEGIN
	IF l.fence IS NOT NULL THEN
		DELETE FROM dlock.locks d WHERE d.ctid =
			(SELECT k.ctid FROM dlock.locks k WHERE k.name = p_name AND k.fence = l.fence FOR UPDATE SKIP LOCKED);
		IF NOT FOUND THEN
			RETURN NULL;
		END IF;
	END IF;
	INSERT INTO dlock.locks VALUES (p_name, f, p_token, t + p_ttl_ms * interval '1 ms', p_served, p_said);
	RETURN f;
END
$$;

-- A waiter whose session has ended is granted no lock. Otherwise each waiter that was killed would hold it for 3 s.
CREATE OR REPLACE FUNCTION dlock.lives_1(p_pid int) RETURNS boolean LANGUAGE sql VOLATILE AS
	$$ SELECT p_pid = pg_backend_pid() OR NOT pg_try_advisory_xact_lock_shared('dlock.waiters'::regclass::oid::int, p_pid) $$;

-- Hands the lock over to the first live waiter, for 3 s. False: there is no such waiter; or the epoch is unsettled, or a
-- transaction relies on the holder: then the waiter is told to ask.
CREATE OR REPLACE FUNCTION dlock.serve_1(l dlock.locks) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	w record;
	f bigint;
BEGIN
	SELECT * INTO w FROM dlock.waiters q WHERE q.name = l.name AND q.ticket > l.served AND q.sign > clock_timestamp() - interval '3 s'
		AND dlock.lives_1(q.pid) ORDER BY q.ticket LIMIT 1;
	IF NOT FOUND THEN
		RETURN false;
	END IF;
	IF dlock.unsettled_1(0) = 0 THEN
		f := dlock.put_1(l, l.name, w.token, 3000, w.ticket, w.said);
	END IF;
	IF f IS NOT NULL THEN
		DELETE FROM dlock.waiters q WHERE q.name = l.name AND q.ticket <= w.ticket;
	END IF;
	PERFORM pg_notify(w.inbox, w.token || ' ' || w.number || ' ' || coalesce(f, 0));
	RETURN f IS NOT NULL;
END
$$;

-- fence > 0: the token holds the lock. Otherwise again_ms is the time until it is worth asking again. why 1: another
-- token holds the lock, or is in front; 2: the epoch is unsettled; 3: a transaction relies on the previous holder. With
-- an inbox the waiter queues, with its ticket or, with 0, at the end. Without an inbox it leaves the queue.
CREATE OR REPLACE FUNCTION dlock.acquire_1(p_name bytea, p_token text, p_inbox text, p_ttl_ms bigint, p_guard_ms bigint, p_ticket bigint,
	p_number bigint, p_said bytea, OUT fence bigint, OUT again_ms bigint, OUT ticket bigint, OUT why bigint)
	LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	l dlock.locks;
	t timestamptz;
	w record;
	u bigint := 0;
	settled boolean;
BEGIN
	IF current_setting('transaction_isolation') <> 'read committed' THEN
		RAISE 'dlock.acquire_1() needs READ COMMITTED';
	END IF;
	IF octet_length(p_name) > 222 THEN
		p_name := dlock.cut_1(p_name);
	END IF;
	PERFORM pg_advisory_xact_lock('dlock.locks'::regclass::oid::int, hashtext(encode(p_name, 'hex')));
	SELECT k.* INTO l FROM dlock.locks k WHERE k.name = p_name ORDER BY k.fence DESC LIMIT 1;
	SELECT true INTO settled FROM dlock.era e WHERE e.settles <= clock_timestamp() AND e.guard_ms >= p_guard_ms
		AND e.line = left(pg_walfile_name(pg_current_wal_lsn()), 8) || '.' || 'dlock.era'::regclass::oid;
	IF settled IS NULL THEN
		u := dlock.unsettled_1(p_guard_ms);
	END IF;
	t := clock_timestamp();
	fence := 0;
	again_ms := u;
	ticket := p_ticket;
	why := CASE WHEN u > 0 THEN 2 ELSE 1 END;
	IF u = 0 AND l.token = p_token AND l.expires > t THEN -- it was handed over, or this is asked for once more
		UPDATE dlock.locks k SET expires = greatest(k.expires, t + p_ttl_ms * interval '1 ms') WHERE k.name = p_name AND k.fence = l.fence;
		fence := l.fence;
		RETURN;
	END IF;
	IF u = 0 AND (l.fence IS NULL OR l.expires <= t) THEN
		SELECT q.ticket, q.token INTO w FROM dlock.waiters q WHERE q.name = p_name AND q.ticket > coalesce(l.served, 0)
			AND q.sign > t - interval '3 s' AND (q.token = p_token OR dlock.lives_1(q.pid)) ORDER BY q.ticket LIMIT 1;
		IF w.ticket IS NULL OR w.token = p_token THEN
			fence := coalesce(dlock.put_1(l, p_name, p_token, p_ttl_ms, coalesce(w.ticket, l.served, 0), p_said), 0);
			IF fence > 0 THEN
				IF p_ticket > 0 THEN
					DELETE FROM dlock.waiters q WHERE q.name = p_name AND q.ticket <= p_ticket AND (q.ticket = p_ticket OR q.ticket <= w.ticket);
				END IF;
				RETURN;
			END IF;
			why := 3;
			again_ms := 50;
		ELSIF l.fence IS NOT NULL AND dlock.serve_1(l) THEN -- the queue begins behind the one that was served
			SELECT k.* INTO l FROM dlock.locks k WHERE k.name = p_name ORDER BY k.fence DESC LIMIT 1;
		ELSE
			again_ms := 50;
		END IF;
	END IF;
	IF l.expires > t THEN
		again_ms := greatest(again_ms, 1 + ceil(extract(epoch FROM l.expires - t) * 1000)::bigint);
	END IF;
	IF p_inbox = '' THEN
		IF p_ticket > 0 THEN
			DELETE FROM dlock.waiters q WHERE q.name = p_name AND q.ticket = p_ticket;
		END IF;
		RETURN;
	END IF;
	IF p_ticket <= coalesce(l.served, 0) THEN -- new, or it did not take up what it was handed
		ticket := greatest((extract(epoch FROM t) * 1e6)::bigint, coalesce(l.served, 0) + 1,
			1 + coalesce((SELECT q.ticket FROM dlock.waiters q WHERE q.name = p_name ORDER BY q.ticket DESC LIMIT 1), 0));
	END IF;
	PERFORM pg_try_advisory_lock('dlock.waiters'::regclass::oid::int, pg_backend_pid());
	INSERT INTO dlock.waiters VALUES (p_name, ticket, p_token, p_inbox, pg_backend_pid(), p_number, t, p_said) ON CONFLICT ON CONSTRAINT waiters_pkey
		DO UPDATE SET sign = excluded.sign, number = excluded.number, inbox = excluded.inbox, pid = excluded.pid,
		said = excluded.said;
	IF why = 1 AND again_ms < 2000 AND EXISTS (SELECT FROM dlock.waiters q WHERE q.name = p_name AND q.ticket < acquire_1.ticket
		AND q.ticket > coalesce(l.served, 0) AND q.sign > t - interval '3 s' AND dlock.lives_1(q.pid)) THEN
		again_ms := 2000; -- live waiters in front keep the queue moving
	END IF;
END
$$;

-- Leaves the queue, with this ticket or, with -1, any, and releases the lock if the token holds it. 0: it does not; 1:
-- it did until now; 2: and a waiter holds it now.
CREATE OR REPLACE FUNCTION dlock.release_1(p_name bytea, p_token text, p_ticket bigint) RETURNS bigint
	LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	l dlock.locks;
BEGIN
	IF octet_length(p_name) > 222 THEN
		p_name := dlock.cut_1(p_name);
	END IF;
	PERFORM pg_advisory_xact_lock('dlock.locks'::regclass::oid::int, hashtext(encode(p_name, 'hex')));
	IF p_ticket <> 0 THEN
		DELETE FROM dlock.waiters q WHERE q.name = p_name AND q.token = p_token AND (p_ticket < 0 OR q.ticket = p_ticket);
	END IF;
	SELECT * INTO l FROM dlock.locks k WHERE k.name = p_name ORDER BY k.fence DESC LIMIT 1;
	IF l.token IS DISTINCT FROM p_token OR l.expires <= clock_timestamp() THEN
		RETURN 0;
	END IF;
	IF dlock.serve_1(l) THEN
		RETURN 2;
	END IF;
	UPDATE dlock.locks k SET expires = clock_timestamp() WHERE k.name = p_name AND k.fence = l.fence;
	RETURN 1;
END
$$;

-- Sets a lease time from now on. Without p_shortens, what is left stays if it is more. 0: the token does not hold the
-- lock.
CREATE OR REPLACE FUNCTION dlock.extend_1(p_name bytea, p_token text, p_ttl_ms bigint, p_shortens bigint, p_said bytea) RETURNS bigint
	LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	l dlock.locks;
	t timestamptz;
BEGIN
	IF octet_length(p_name) > 222 THEN
		p_name := dlock.cut_1(p_name);
	END IF;
	PERFORM pg_advisory_xact_lock('dlock.locks'::regclass::oid::int, hashtext(encode(p_name, 'hex')));
	SELECT * INTO l FROM dlock.locks k WHERE k.name = p_name ORDER BY k.fence DESC LIMIT 1;
	t := clock_timestamp();
	IF l.token IS DISTINCT FROM p_token OR l.expires <= t THEN
		RETURN 0;
	END IF;
	t := t + p_ttl_ms * interval '1 ms';
	UPDATE dlock.locks k SET expires = CASE WHEN p_shortens > 0 THEN t ELSE greatest(k.expires, t) END,
		said = CASE WHEN p_said = '' THEN k.said ELSE p_said END WHERE k.name = p_name AND k.fence = l.fence;
	RETURN 1;
END
$$;

-- The ms left of the token's lease, or of any holder's if the token is empty. -1: there is no such lease.
CREATE OR REPLACE FUNCTION dlock.left_1(p_name bytea, p_token text) RETURNS bigint
	LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	l dlock.locks;
	t timestamptz := clock_timestamp();
BEGIN
	IF octet_length(p_name) > 222 THEN
		p_name := dlock.cut_1(p_name);
	END IF;
	SELECT * INTO l FROM dlock.locks k WHERE k.name = p_name ORDER BY k.fence DESC LIMIT 1;
	IF l.fence IS NULL OR (p_token <> '' AND l.token <> p_token) OR l.expires <= t THEN
		RETURN -1;
	END IF;
	RETURN floor(extract(epoch FROM l.expires - t) * 1000)::bigint;
END
$$;

-- Transfers the lease from the old token to the new one, with the next fencing token. left_ms -1: neither token holds
-- it; -2: not yet, because a transaction relies on its holder; -3: not yet, because the epoch is unsettled.
CREATE OR REPLACE FUNCTION dlock.exchange_1(p_name bytea, p_new text, p_old text, p_guard_ms bigint, OUT left_ms bigint, OUT fence bigint)
	LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	l dlock.locks;
BEGIN
	IF octet_length(p_name) > 222 THEN
		p_name := dlock.cut_1(p_name);
	END IF;
	PERFORM pg_advisory_xact_lock('dlock.locks'::regclass::oid::int, hashtext(encode(p_name, 'hex')));
	fence := 0;
	IF dlock.unsettled_1(p_guard_ms) > 0 THEN -- a server that was promoted may not know that it was taken up
		left_ms := -3;
		RETURN;
	END IF;
	SELECT * INTO l FROM dlock.locks k WHERE k.name = p_name ORDER BY k.fence DESC LIMIT 1;
	left_ms := floor(extract(epoch FROM l.expires - clock_timestamp()) * 1000)::bigint;
	IF l.fence IS NULL OR l.token NOT IN (p_old, p_new) OR left_ms <= 0 THEN
		left_ms := -1;
		RETURN;
	END IF;
	IF l.token = p_new THEN -- by this request, which is asked once more
		fence := l.fence;
		RETURN;
	END IF;
	fence := coalesce(dlock.put_1(l, p_name, p_new, left_ms, l.served, ''), 0);
	IF fence = 0 THEN
		left_ms := -2;
	END IF;
END
$$;

-- Shows operators the holder and the waiters. First the time in us and the number of waiters. Then "h", id, us left,
-- fencing token and, in hex, what the holder said of itself; if the lock was broken, "b" in place of "h", and by which
-- user. Then, for each of the first waiters, "w", id and what it said. An id is the beginning of a token, which cannot
-- release the lock; "-": there is none.
CREATE OR REPLACE FUNCTION dlock.seen_1(p_name bytea, p_most bigint) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
	l dlock.locks;
	t timestamptz := clock_timestamp();
	v text;
	n bigint;
BEGIN
	SELECT * INTO l FROM dlock.locks k WHERE k.name = p_name ORDER BY k.fence DESC LIMIT 1;
	SELECT count(*) INTO n FROM dlock.waiters q WHERE q.name = p_name AND q.ticket > coalesce(l.served, 0) AND q.sign > t - interval '3 s';
	v := (extract(epoch FROM t) * 1e6)::bigint || ' ' || n;
	IF l.expires > t THEN
		v := v || CASE WHEN l.token LIKE 'broken:%' THEN E'\nb ' ELSE E'\nh ' END || CASE WHEN l.token LIKE 'broken:%' THEN substr(l.token, 8, 24) WHEN length(l.token) = 44 THEN left(l.token, 24) ELSE '-' END
			|| ' ' || (extract(epoch FROM l.expires - t) * 1e6)::bigint || ' ' || l.fence
			|| ' ' || CASE WHEN l.token LIKE 'broken:%' THEN substr(l.token, 33) ELSE encode(l.said, 'hex') END;
	END IF;
	RETURN v || coalesce((SELECT string_agg(E'\nw ' || CASE WHEN length(w.token) = 44 THEN left(w.token, 24) ELSE '-' END || ' ' || encode(w.said, 'hex'), '' ORDER BY w.ticket)
		FROM (SELECT q.token, q.ticket, q.said FROM dlock.waiters q WHERE q.name = p_name AND q.ticket > coalesce(l.served, 0) AND q.sign > t - interval '3 s'
			ORDER BY q.ticket LIMIT p_most) w), '');
END
$$;
CREATE OR REPLACE FUNCTION dlock.inspect_1(p_name bytea, p_token text, p_most bigint) RETURNS text
	LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ SELECT dlock.seen_1(dlock.cut_1(p_name), p_most) $$;

-- The same for all names that are held or waited for, with "l" and the name in hex before each; a cut name ends in
-- three dots. It looks at no more than p_most locks, after p_name, that share its first p_prefix bytes. The first line
-- is the name from which to continue, in hex; empty: there are no more.
CREATE OR REPLACE FUNCTION dlock.list_1(p_name bytea, p_token text, p_prefix bigint, p_most bigint) RETURNS text
	LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	t timestamptz := clock_timestamp();
	v_end bytea := substr(p_name, 1, p_prefix::int) || decode(repeat('ff', 256), 'hex');
	v_last bytea;
BEGIN
	SELECT k.name INTO v_last FROM dlock.locks k WHERE k.name > p_name AND k.name < v_end ORDER BY k.name, k.fence OFFSET p_most - 1 LIMIT 1;
	v_end := coalesce(v_last, v_end);
	RETURN coalesce(encode(v_last, 'hex'), '') || coalesce((SELECT string_agg(E'\nl ' || encode(
			CASE WHEN octet_length(a.name) > 222 THEN substr(a.name, 1, 223) || convert_to('...', 'UTF8') ELSE a.name END, 'hex')
			|| E'\n' || dlock.seen_1(a.name, 1), '' ORDER BY a.name)
		FROM (SELECT k.name FROM dlock.locks k WHERE k.name > p_name AND k.name <= v_end AND k.expires > t
			UNION SELECT q.name FROM dlock.waiters q WHERE q.name > p_name AND q.name <= v_end AND q.sign > t - interval '3 s') a), '');
END
$$;

-- Breaks the lock of the holder with that id: at once, or by refusing its renewals. Returns the ms until the lock is
-- free; -1: another holder has it, or none.
CREATE OR REPLACE FUNCTION dlock.break_1(p_name bytea, p_id text, p_by text, p_now bigint) RETURNS bigint
	LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
	l dlock.locks;
	t timestamptz;
BEGIN
	p_name := dlock.cut_1(p_name);
	PERFORM pg_advisory_xact_lock('dlock.locks'::regclass::oid::int, hashtext(encode(p_name, 'hex')));
	SELECT * INTO l FROM dlock.locks k WHERE k.name = p_name ORDER BY k.fence DESC LIMIT 1;
	t := clock_timestamp();
	IF l.fence IS NULL OR l.expires <= t OR p_id <> (CASE WHEN l.token LIKE 'broken:%' THEN substr(l.token, 8, 24) ELSE left(l.token, 24) END) THEN
		RETURN -1;
	END IF;
	IF p_now > 0 THEN
		IF NOT dlock.serve_1(l) THEN
			UPDATE dlock.locks k SET expires = t WHERE k.name = p_name AND k.fence = l.fence;
		END IF;
		RETURN 0;
	END IF;
	IF l.token NOT LIKE 'broken:%' THEN
		UPDATE dlock.locks k SET token = 'broken:' || p_id || ':' || p_by WHERE k.name = p_name AND k.fence = l.fence;
	END IF;
	RETURN ceil(extract(epoch FROM l.expires - t) * 1000)::bigint;
END
$$;

-- For the application's own transaction: no client was granted the lock since this fencing token, and none is granted
-- it until the transaction ends, whatever clocks and lease times say. Otherwise the call fails, and the transaction
-- with it. The lease can be renewed and released meanwhile.
CREATE OR REPLACE FUNCTION dlock.assert(p_name bytea, p_fence bigint) RETURNS void
	LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	PERFORM FROM dlock.locks k WHERE k.name = dlock.cut_1(p_name) AND k.fence = p_fence FOR KEY SHARE;
	IF NOT FOUND THEN
		RAISE EXCEPTION 'the lock "%" is not held with the fencing token % any more', left(encode(p_name, 'escape'), 100), p_fence
			USING ERRCODE = 'DL001';
	END IF;
END
$$;
CREATE OR REPLACE FUNCTION dlock.assert(p_name text, p_fence bigint) RETURNS void LANGUAGE sql AS
	$$ SELECT dlock.assert(convert_to(p_name, 'UTF8'), p_fence) $$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA dlock FROM PUBLIC;
DO $grant$
BEGIN
	IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'dlock_user') THEN
		CREATE ROLE dlock_user NOLOGIN;
	END IF;
EXCEPTION WHEN insufficient_privilege OR duplicate_object OR unique_violation THEN
	NULL; -- without CREATEROLE they are the owner's alone
END
$grant$;
DO $grant$
BEGIN
	IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'dlock_user') THEN
		GRANT USAGE ON SCHEMA dlock TO dlock_user;
		GRANT EXECUTE ON FUNCTION dlock.acquire_1, dlock.release_1, dlock.extend_1, dlock.left_1, dlock.exchange_1, dlock.inspect_1, dlock.list_1, dlock.break_1,
			dlock.assert(bytea, bigint), dlock.assert(text, bigint) TO dlock_user;
	END IF;
END
$grant$;
COMMIT;
