-- dlock on MySQL 8.0.29 or later and MariaDB 10.6 or later: tables and procedures, version 1 of the protocol. Their
-- owner runs this file in the database of the locks, and may run it again. Then, for the user of the application: GRANT
-- EXECUTE ON shop.* TO app. docs/database.md explains how it works.
--
-- Procedures wake waiters by KILL QUERY. So their owner needs the right to do that to sessions of the application. If
-- the application has another user: GRANT CONNECTION ADMIN ON *.* (MariaDB) or CONNECTION_ADMIN (MySQL). Without it,
-- waiters look every 2 to 2.5 s.
--
-- Times are in microseconds since 1970, by the server's clock. The session's time zone is UTC, and its isolation level
-- is READ COMMITTED.
--
-- A session in which a waiter sleeps holds the user lock dlock:ID for as long as it lasts. So a waiter whose session
-- has ended is granted no lock. A lock that was handed over to it, and that it did not accept, goes to the next waiter
-- at once.
--
-- Only grants update dlock_fences: dlock_assert() locks a row of it in the application's transaction, while renewals
-- write dlock_locks.
CREATE TABLE IF NOT EXISTS dlock_locks (
	name VARBINARY(255) PRIMARY KEY,
	token VARBINARY(64) NOT NULL, -- the owner's
	expires BIGINT NOT NULL,
	served BIGINT NOT NULL, -- ticket of the last waiter that was granted the lock: the queue begins after it
	queued BIGINT NOT NULL, -- ticket of the last waiter that queued: no client waits if it is not after `served`
	bell BIGINT NOT NULL, -- session of a waiter that was granted the lock and has not asked since; 0: the owner knows
	said VARBINARY(190) NOT NULL -- its host's name and label, for people
) ENGINE=InnoDB;
CREATE TABLE IF NOT EXISTS dlock_fences (name VARBINARY(255) PRIMARY KEY, fence BIGINT NOT NULL) ENGINE=InnoDB;
CREATE TABLE IF NOT EXISTS dlock_waiters (
	name VARBINARY(255) NOT NULL,
	ticket BIGINT NOT NULL,
	token VARBINARY(64) NOT NULL,
	bell BIGINT NOT NULL, -- the session to wake
	sign BIGINT NOT NULL, -- its last sign of life
	said VARBINARY(190) NOT NULL,
	PRIMARY KEY (name, ticket)
) ENGINE=InnoDB;
-- The server whose clock and leases these are. On another server, or in a restored dump, an epoch begins. No lock is
-- granted in it until its guard is over, which is at least as long as any lease.
CREATE TABLE IF NOT EXISTS dlock_era (one TINYINT PRIMARY KEY, server VARBINARY(255) NOT NULL, settles BIGINT NOT NULL, guard BIGINT NOT NULL) ENGINE=InnoDB;
-- If these tables are new, there cannot be a lease yet.
INSERT IGNORE INTO dlock_era
	SELECT 1, CONCAT(@@server_id, '/', @@hostname, '/', @@port), 0, 0 FROM DUAL WHERE NOT EXISTS (SELECT * FROM dlock_fences);

DELIMITER //
-- The us until locks are granted; 0: they are granted now.
CREATE PROCEDURE IF NOT EXISTS dlock_unsettled_1(IN p_guard BIGINT, OUT o_left BIGINT) MODIFIES SQL DATA
BEGIN
	DECLARE v_server VARBINARY(255) DEFAULT CONCAT(@@server_id, '/', @@hostname, '/', @@port);
	DECLARE v_settles, t BIGINT;
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
	SELECT settles INTO v_settles FROM dlock_era WHERE one = 1 AND server = v_server AND guard >= p_guard;
	IF v_settles IS NULL THEN
		SET t = UNIX_TIMESTAMP(SYSDATE(6)) * 1000000;
		INSERT INTO dlock_era VALUES (1, v_server, t + p_guard, p_guard) ON DUPLICATE KEY UPDATE
			settles = IF(server <> v_server, t + GREATEST(guard, p_guard), settles), server = v_server, guard = GREATEST(guard, p_guard);
		SELECT settles INTO v_settles FROM dlock_era WHERE one = 1;
	END IF;
	SET o_left = GREATEST(0, v_settles - FLOOR(UNIX_TIMESTAMP(SYSDATE(6)) * 1000000));
END //
-- Begins a transaction in which no other session works on this name. A name that is too long is cut, and ends in its
-- digest.
CREATE PROCEDURE IF NOT EXISTS dlock_enter_1(INOUT p_name VARBINARY(4000), OUT o_token VARBINARY(64), OUT o_expires BIGINT, OUT o_served BIGINT, OUT o_queued BIGINT,
	OUT o_bell BIGINT, OUT o_now BIGINT) MODIFIES SQL DATA
BEGIN
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
	IF LENGTH(p_name) > 190 THEN
		SET p_name = CONCAT(SUBSTR(p_name, 1, 191), SHA2(p_name, 256));
	END IF;
	START TRANSACTION;
	SELECT token, expires, served, queued, bell INTO o_token, o_expires, o_served, o_queued, o_bell FROM dlock_locks WHERE name = p_name FOR UPDATE;
	IF o_expires IS NULL THEN
		ROLLBACK;
		INSERT IGNORE INTO dlock_fences VALUES (p_name, 0);
		INSERT IGNORE INTO dlock_locks VALUES (p_name, '', 0, 0, 0, 0, '');
		START TRANSACTION;
		SELECT token, expires, served, queued, bell INTO o_token, o_expires, o_served, o_queued, o_bell FROM dlock_locks WHERE name = p_name FOR UPDATE;
	END IF;
	SET o_now = UNIX_TIMESTAMP(SYSDATE(6)) * 1000000;
END //
-- Grants the lock; p_bell: as in the row. o_fence 0: not yet, because a transaction relies on the previous holder
-- (dlock_assert()).
CREATE PROCEDURE IF NOT EXISTS dlock_put_1(IN p_name VARBINARY(255), IN p_token VARBINARY(64), IN p_ttl BIGINT, IN p_served BIGINT, IN p_bell BIGINT,
	IN p_said VARBINARY(190), OUT o_fence BIGINT) MODIFIES SQL DATA
BEGIN
	DECLARE t BIGINT DEFAULT UNIX_TIMESTAMP(SYSDATE(6)) * 1000000;
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
	SELECT fence INTO o_fence FROM dlock_fences WHERE name = p_name FOR UPDATE SKIP LOCKED;
	IF o_fence IS NULL THEN
		SET o_fence = 0;
	ELSE
		SET o_fence = GREATEST(o_fence + 1, t);
		UPDATE dlock_fences SET fence = o_fence WHERE name = p_name;
		UPDATE dlock_locks SET token = p_token, expires = t + p_ttl, served = p_served, bell = p_bell, said = p_said WHERE name = p_name;
	END IF;
END //
-- Hands the lock over to the first live waiter, for 3 s. o_bell: the session to wake after the commit, so that the
-- waiter accepts the lock, or asks if it cannot be handed over yet; 0: no waiter.
CREATE PROCEDURE IF NOT EXISTS dlock_serve_1(IN p_name VARBINARY(255), IN p_served BIGINT, IN p_queued BIGINT, IN p_now BIGINT, OUT o_fence BIGINT, OUT o_bell BIGINT) MODIFIES SQL DATA
BEGIN
	DECLARE v_ticket, v_left BIGINT;
	DECLARE v_token VARBINARY(64);
	DECLARE v_said VARBINARY(190);
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
	SET o_fence = 0, o_bell = 0;
	IF p_queued > p_served THEN
		SELECT ticket, token, bell, said INTO v_ticket, v_token, o_bell, v_said FROM dlock_waiters
			WHERE name = p_name AND ticket > p_served AND sign > p_now - 3000000 AND IS_USED_LOCK(CONCAT('dlock:', bell)) = bell ORDER BY ticket LIMIT 1;
	END IF;
	IF v_ticket IS NOT NULL THEN
		CALL dlock_unsettled_1(0, v_left);
		IF v_left = 0 THEN
			CALL dlock_put_1(p_name, v_token, 3000000, v_ticket, o_bell, v_said, o_fence);
		END IF;
		IF o_fence > 0 THEN
			DELETE FROM dlock_waiters WHERE name = p_name AND ticket <= v_ticket;
		END IF;
	END IF;
END //
-- A session that has ended has no waiter to wake.
CREATE PROCEDURE IF NOT EXISTS dlock_wake_1(IN p_bell BIGINT)
BEGIN
	DECLARE CONTINUE HANDLER FOR 1094, 1095, 1227 BEGIN END;
	IF p_bell > 0 AND p_bell <> CONNECTION_ID() THEN
		KILL QUERY p_bell;
	END IF;
END //
-- Sleeps for p_sleep ms, or less if the session of the waiter in front ends. A session whose client is gone ends within
-- 1 s while it sleeps, and at once if it was woken. Only the first 8 waiters watch a session: the search for deadlocks
-- gives up at 32 that wait for each other.
CREATE PROCEDURE IF NOT EXISTS dlock_sleep_1(IN p_name VARBINARY(255), IN p_ticket BIGINT, IN p_served BIGINT, IN p_granted BIGINT, IN p_sleep BIGINT)
	READS SQL DATA
BEGIN
	DECLARE v_ahead INT;
	DECLARE v_bell BIGINT;
	SELECT COUNT(*), COALESCE(SUBSTRING_INDEX(GROUP_CONCAT(bell ORDER BY ticket DESC), ',', 1), p_granted) INTO v_ahead, v_bell FROM dlock_waiters
		WHERE name = p_name AND ticket > p_served AND ticket < p_ticket AND IS_USED_LOCK(CONCAT('dlock:', bell)) = bell;
	IF v_ahead < 8 AND v_bell > 0 AND v_bell <> CONNECTION_ID() AND p_sleep >= 1000 THEN
		DO GET_LOCK(CONCAT('dlock:', v_bell), p_sleep / 1000) AND RELEASE_LOCK(CONCAT('dlock:', v_bell));
	ELSE
		DO SLEEP(p_sleep / 1000);
	END IF;
END //
-- As dlock.acquire_1() in postgresql.sql. If the lock is refused, it sleeps for p_sleep ms, unless it is woken. Then it
-- is to be called again.
CREATE PROCEDURE IF NOT EXISTS dlock_acquire_1(IN p_name VARBINARY(4000), IN p_token VARBINARY(64), IN p_inbox VARBINARY(64), IN p_ttl BIGINT, IN p_guard BIGINT,
	IN p_ticket BIGINT, IN p_sleep BIGINT, IN p_said VARBINARY(190)) SQL SECURITY DEFINER MODIFIES SQL DATA
body: BEGIN
	DECLARE v_token, v_first VARBINARY(64);
	DECLARE v_expires, v_served, v_queued, v_granted, t, v_left, v_ticket, v_sign BIGINT;
	DECLARE v_fence, v_again, v_bell BIGINT DEFAULT 0;
	DECLARE v_why INT DEFAULT 1;
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
	ROLLBACK; -- of what was woken in the middle
	IF EXISTS (SELECT * FROM dlock_era WHERE one = 1 AND server = CONCAT(@@server_id, '/', @@hostname, '/', @@port) AND guard >= p_guard * 1000 AND settles < UNIX_TIMESTAMP(SYSDATE(6)) * 1000000) THEN
		SET v_left = 0;
	ELSE
		CALL dlock_unsettled_1(p_guard * 1000, v_left);
	END IF;
	CALL dlock_enter_1(p_name, v_token, v_expires, v_served, v_queued, v_granted, t);
	IF v_granted > 0 AND v_token <> p_token AND NOT IS_USED_LOCK(CONCAT('dlock:', v_granted)) <=> v_granted THEN
		SET v_expires = LEAST(v_expires, t); -- it will not be taken up
	END IF;
	IF v_left > 0 THEN
		SET v_why = 2, v_again = CEIL(v_left / 1000);
	ELSEIF v_token = p_token AND v_expires > t THEN
		UPDATE dlock_locks SET expires = GREATEST(v_expires, t + p_ttl * 1000), bell = 0 WHERE name = p_name;
		SELECT fence INTO v_fence FROM dlock_fences WHERE name = p_name;
	ELSEIF v_expires <= t THEN
		SET v_again = 50;
		IF v_queued > v_served THEN
			SELECT ticket, token, sign INTO v_ticket, v_first, v_sign FROM dlock_waiters WHERE name = p_name AND ticket > v_served AND sign > t - 3000000
				AND (token = p_token OR IS_USED_LOCK(CONCAT('dlock:', bell)) = bell) ORDER BY ticket LIMIT 1;
		END IF;
		IF v_ticket IS NULL OR v_first = p_token THEN
			CALL dlock_put_1(p_name, p_token, p_ttl * 1000, COALESCE(v_ticket, v_served), 0, p_said, v_fence);
			SET v_why = IF(v_fence = 0, 3, 1);
			IF v_fence > 0 AND (p_ticket > 0 OR v_ticket > 0) THEN
				DELETE FROM dlock_waiters WHERE name = p_name AND (ticket = p_ticket OR ticket <= v_ticket);
			END IF;
		ELSE
			CALL dlock_serve_1(p_name, v_served, v_queued, t, v_left, v_bell);
			IF v_left > 0 THEN -- the queue begins behind the one that was served
				SELECT expires, served, bell INTO v_expires, v_served, v_granted FROM dlock_locks WHERE name = p_name;
			ELSEIF v_sign > t - 100000 THEN
				SET v_bell = 0; -- it asks each 50 ms
			END IF;
		END IF;
	END IF;
	IF v_fence > 0 THEN
		COMMIT;
		SELECT v_fence, 0, p_ticket, 0;
		LEAVE body;
	END IF;
	IF v_expires > t THEN
		SET v_again = GREATEST(v_again, 1 + CEIL((v_expires - t) / 1000));
	END IF;
	IF p_inbox = '' AND p_ticket > 0 THEN
		DELETE FROM dlock_waiters WHERE name = p_name AND ticket = p_ticket;
	ELSEIF p_inbox <> '' THEN
		IF p_ticket = 0 AND v_queued > v_served THEN -- it may have been woken, or its session ended, before it was told its ticket
			SELECT ticket INTO p_ticket FROM dlock_waiters WHERE name = p_name AND ticket > v_served AND token = p_token ORDER BY ticket LIMIT 1;
		END IF;
		IF p_ticket <= v_served THEN
			SET p_ticket = GREATEST(t, v_served + 1, v_queued + 1);
		END IF;
		IF p_ticket > v_queued THEN
			UPDATE dlock_locks SET queued = p_ticket WHERE name = p_name;
		END IF;
		IF IS_USED_LOCK(CONCAT('dlock:', CONNECTION_ID())) IS NULL THEN
			DO GET_LOCK(CONCAT('dlock:', CONNECTION_ID()), 0);
		END IF;
		INSERT INTO dlock_waiters VALUES (p_name, p_ticket, p_token, CONNECTION_ID(), t, p_said) ON DUPLICATE KEY UPDATE sign = t, bell = CONNECTION_ID(), said = p_said;
		IF v_why = 1 AND v_again < 2000 AND EXISTS (SELECT * FROM dlock_waiters WHERE name = p_name AND ticket < p_ticket AND ticket > v_served AND sign > t - 3000000
			AND IS_USED_LOCK(CONCAT('dlock:', bell)) = bell) THEN
			SET v_again = 2000; -- live waiters in front keep the queue moving
		END IF;
	END IF;
	COMMIT;
	CALL dlock_wake_1(v_bell);
	IF p_inbox <> '' AND p_sleep > 0 THEN
		CALL dlock_sleep_1(p_name, p_ticket, v_served, v_granted, LEAST(p_sleep, v_again));
		SET v_again = 0;
	END IF;
	SELECT 0, v_again, p_ticket, v_why;
END //
CREATE PROCEDURE IF NOT EXISTS dlock_release_1(IN p_name VARBINARY(4000), IN p_token VARBINARY(64), IN p_ticket BIGINT) SQL SECURITY DEFINER MODIFIES SQL DATA
BEGIN
	DECLARE v_token VARBINARY(64);
	DECLARE v_expires, v_served, v_queued, v_granted, t BIGINT;
	DECLARE v_fence, v_bell BIGINT DEFAULT 0;
	DECLARE v_result INT DEFAULT 0;
	ROLLBACK;
	CALL dlock_enter_1(p_name, v_token, v_expires, v_served, v_queued, v_granted, t);
	IF p_ticket <> 0 THEN
		DELETE FROM dlock_waiters WHERE name = p_name AND token = p_token AND (p_ticket < 0 OR ticket = p_ticket);
	END IF;
	IF v_token = p_token AND v_expires > t THEN
		CALL dlock_serve_1(p_name, v_served, v_queued, t, v_fence, v_bell);
		SET v_result = IF(v_fence > 0, 2, 1);
		IF v_fence = 0 THEN
			UPDATE dlock_locks SET expires = t WHERE name = p_name;
		END IF;
	END IF;
	COMMIT;
	CALL dlock_wake_1(v_bell);
	SELECT v_result;
END //
CREATE PROCEDURE IF NOT EXISTS dlock_extend_1(IN p_name VARBINARY(4000), IN p_token VARBINARY(64), IN p_ttl BIGINT, IN p_shortens BIGINT, IN p_said VARBINARY(190))
	SQL SECURITY DEFINER MODIFIES SQL DATA
BEGIN
	DECLARE v_token VARBINARY(64);
	DECLARE v_expires, v_served, v_queued, v_granted, t BIGINT;
	ROLLBACK;
	CALL dlock_enter_1(p_name, v_token, v_expires, v_served, v_queued, v_granted, t);
	IF v_token = p_token AND v_expires > t THEN
		UPDATE dlock_locks SET expires = IF(p_shortens > 0, t + p_ttl * 1000, GREATEST(v_expires, t + p_ttl * 1000)), said = IF(p_said = '', said, p_said)
			WHERE name = p_name;
		COMMIT;
		SELECT 1;
	ELSE
		ROLLBACK;
		SELECT 0;
	END IF;
END //
CREATE PROCEDURE IF NOT EXISTS dlock_left_1(IN p_name VARBINARY(4000), IN p_token VARBINARY(64)) SQL SECURITY DEFINER READS SQL DATA
BEGIN
	DECLARE v_token VARBINARY(64);
	DECLARE v_expires BIGINT DEFAULT 0;
	DECLARE t BIGINT DEFAULT UNIX_TIMESTAMP(SYSDATE(6)) * 1000000;
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
	ROLLBACK;
	IF LENGTH(p_name) > 190 THEN
		SET p_name = CONCAT(SUBSTR(p_name, 1, 191), SHA2(p_name, 256));
	END IF;
	SELECT token, expires INTO v_token, v_expires FROM dlock_locks WHERE name = p_name;
	SELECT IF(v_expires <= t OR (p_token <> '' AND v_token <> p_token), -1, FLOOR((v_expires - t) / 1000));
END //
CREATE PROCEDURE IF NOT EXISTS dlock_exchange_1(IN p_name VARBINARY(4000), IN p_new VARBINARY(64), IN p_old VARBINARY(64), IN p_guard BIGINT) SQL SECURITY DEFINER MODIFIES SQL DATA
BEGIN
	DECLARE v_token VARBINARY(64);
	DECLARE v_expires, v_served, v_queued, v_granted, t, v_left BIGINT;
	DECLARE v_fence BIGINT DEFAULT 0;
	ROLLBACK;
	CALL dlock_unsettled_1(p_guard * 1000, v_left);
	CALL dlock_enter_1(p_name, v_token, v_expires, v_served, v_queued, v_granted, t);
	IF v_left > 0 THEN
		SET v_left = -3;
	ELSEIF v_token NOT IN (p_old, p_new) OR v_expires - t < 1000 THEN
		SET v_left = -1;
	ELSEIF v_token = p_new THEN
		SET v_left = FLOOR((v_expires - t) / 1000);
		SELECT fence INTO v_fence FROM dlock_fences WHERE name = p_name;
	ELSE
		SET v_left = FLOOR((v_expires - t) / 1000);
		CALL dlock_put_1(p_name, p_new, v_expires - t, v_served, 0, '', v_fence);
		IF v_fence = 0 THEN
			SET v_left = -2;
		END IF;
	END IF;
	COMMIT;
	SELECT v_left, v_fence;
END //
-- Shows operators the holder and the waiters, as dlock.seen_1(), dlock.inspect_1() and dlock.list_1() in
-- postgresql.sql.
CREATE PROCEDURE IF NOT EXISTS dlock_seen_1(IN p_name VARBINARY(255), IN p_most BIGINT, OUT o_text LONGTEXT) READS SQL DATA
BEGIN
	DECLARE v_token, v_id VARBINARY(64);
	DECLARE v_said VARBINARY(190);
	DECLARE v_expires, v_served, v_fence, v_count, v_done BIGINT DEFAULT 0;
	DECLARE t BIGINT DEFAULT UNIX_TIMESTAMP(SYSDATE(6)) * 1000000;
	DECLARE first CURSOR FOR SELECT token, said FROM dlock_waiters WHERE name = p_name AND ticket > v_served AND sign > t - 3000000 ORDER BY ticket LIMIT p_most;
	DECLARE CONTINUE HANDLER FOR NOT FOUND SET v_done = 1;
	SELECT token, expires, served, said, fence INTO v_token, v_expires, v_served, v_said, v_fence FROM dlock_locks JOIN dlock_fences USING (name) WHERE name = p_name;
	SELECT COUNT(*) INTO v_count FROM dlock_waiters WHERE name = p_name AND ticket > v_served AND sign > t - 3000000;
	SET o_text = CONCAT(t, ' ', v_count), v_done = 0;
	IF v_expires > t THEN
		SET o_text = CONCAT(o_text, IF(v_token LIKE 'broken:%', '\nb ', '\nh '), IF(v_token LIKE 'broken:%', SUBSTR(v_token, 8, 24), IF(LENGTH(v_token) = 44, LEFT(v_token, 24), '-')), ' ',
			v_expires - t, ' ', v_fence, ' ', IF(v_token LIKE 'broken:%', SUBSTR(v_token, 33), HEX(v_said)));
	END IF;
	OPEN first;
	FETCH first INTO v_id, v_said;
	WHILE v_done = 0 DO
		SET o_text = CONCAT(o_text, '\nw ', IF(LENGTH(v_id) = 44, LEFT(v_id, 24), '-'), ' ', HEX(v_said));
		FETCH first INTO v_id, v_said;
	END WHILE;
	CLOSE first;
END //
CREATE PROCEDURE IF NOT EXISTS dlock_inspect_1(IN p_name VARBINARY(4000), IN p_token VARBINARY(64), IN p_most BIGINT) SQL SECURITY DEFINER READS SQL DATA
BEGIN
	DECLARE v_text LONGTEXT;
	ROLLBACK;
	IF LENGTH(p_name) > 190 THEN
		SET p_name = CONCAT(SUBSTR(p_name, 1, 191), SHA2(p_name, 256));
	END IF;
	CALL dlock_seen_1(p_name, p_most, v_text);
	SELECT v_text;
END //
CREATE PROCEDURE IF NOT EXISTS dlock_list_1(IN p_name VARBINARY(4000), IN p_token VARBINARY(64), IN p_prefix BIGINT, IN p_most BIGINT) SQL SECURITY DEFINER READS SQL DATA
BEGIN
	DECLARE v_name, v_last VARBINARY(255);
	DECLARE v_text, v_one LONGTEXT;
	DECLARE v_done BIGINT DEFAULT 0;
	DECLARE v_skip BIGINT DEFAULT p_most - 1;
	DECLARE v_end VARBINARY(4300) DEFAULT CONCAT(LEFT(p_name, p_prefix), REPEAT(x'ff', 256));
	DECLARE t BIGINT DEFAULT UNIX_TIMESTAMP(SYSDATE(6)) * 1000000;
	DECLARE names CURSOR FOR SELECT name FROM dlock_locks WHERE name > p_name AND name <= v_end AND (expires > t OR
		queued > served AND EXISTS (SELECT * FROM dlock_waiters w WHERE w.name = dlock_locks.name AND sign > t - 3000000)) ORDER BY name;
	DECLARE CONTINUE HANDLER FOR NOT FOUND SET v_done = 1;
	ROLLBACK;
	SELECT name INTO v_last FROM dlock_locks WHERE name > p_name AND name < v_end ORDER BY name LIMIT 1 OFFSET v_skip;
	SET v_end = COALESCE(v_last, v_end), v_text = COALESCE(HEX(v_last), ''), v_done = 0;
	OPEN names;
	FETCH names INTO v_name;
	WHILE v_done = 0 DO
		CALL dlock_seen_1(v_name, 1, v_one);
		SET v_text = CONCAT(v_text, '\nl ', HEX(IF(LENGTH(v_name) > 190, CONCAT(LEFT(v_name, 191), '...'), v_name)), '\n', v_one);
		FETCH names INTO v_name;
	END WHILE;
	CLOSE names;
	SELECT v_text;
END //
CREATE PROCEDURE IF NOT EXISTS dlock_break_1(IN p_name VARBINARY(4000), IN p_id VARBINARY(64), IN p_by VARBINARY(64), IN p_now BIGINT) SQL SECURITY DEFINER MODIFIES SQL DATA
BEGIN
	DECLARE v_token VARBINARY(64);
	DECLARE v_expires, v_served, v_queued, v_granted, t BIGINT;
	DECLARE v_left BIGINT DEFAULT -1;
	DECLARE v_fence, v_bell BIGINT DEFAULT 0;
	ROLLBACK;
	CALL dlock_enter_1(p_name, v_token, v_expires, v_served, v_queued, v_granted, t);
	IF v_expires > t AND p_id = IF(v_token LIKE 'broken:%', SUBSTR(v_token, 8, 24), LEFT(v_token, 24)) THEN
		SET v_left = CEIL((v_expires - t) / 1000);
		IF p_now > 0 THEN
			SET v_left = 0;
			CALL dlock_serve_1(p_name, v_served, v_queued, t, v_fence, v_bell);
			IF v_fence = 0 THEN
				UPDATE dlock_locks SET expires = t WHERE name = p_name;
			END IF;
		ELSEIF v_token NOT LIKE 'broken:%' THEN
			UPDATE dlock_locks SET token = LEFT(CONCAT('broken:', p_id, ':', p_by), 64) WHERE name = p_name;
		END IF;
	END IF;
	COMMIT;
	CALL dlock_wake_1(v_bell);
	SELECT v_left;
END //
-- For the application's own transaction: no client was granted the lock since this fencing token, and none is granted
-- it until the transaction ends, whatever clocks and lease times say. Otherwise the call fails, and the application has
-- to roll back. The lease can be renewed and released meanwhile. This procedure is the last one: create=1 takes it as
-- the sign that the others are there.
CREATE PROCEDURE IF NOT EXISTS dlock_assert(IN p_name VARBINARY(4000), IN p_fence BIGINT) SQL SECURITY DEFINER READS SQL DATA
BEGIN
	DECLARE v_fence BIGINT;
	DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
	IF LENGTH(p_name) > 190 THEN
		SET p_name = CONCAT(SUBSTR(p_name, 1, 191), SHA2(p_name, 256));
	END IF;
	SELECT fence INTO v_fence FROM dlock_fences WHERE name = p_name LOCK IN SHARE MODE;
	IF p_fence < 1 OR v_fence IS NULL OR v_fence <> p_fence THEN
		SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'dlock: the lock is not held with this fencing token any more', MYSQL_ERRNO = 31001;
	END IF;
END //
DELIMITER ;
