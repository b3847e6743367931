--# CREATE TABLE
CREATE TABLE t (id int PRIMARY KEY, name text);
--# INSERT
INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c');
--# INSERT of nothing
INSERT INTO t SELECT 1, 'x' WHERE false;
--# INSERT with RETURNING prints its tag below the rows
INSERT INTO t VALUES (4, 'd') RETURNING *;
--# of no row
INSERT INTO t VALUES (4, 'd') ON CONFLICT DO NOTHING RETURNING *;
--# into a table that is not there
INSERT INTO bare_t DEFAULT VALUES RETURNING *;
--# UPDATE
UPDATE t SET name = 'z' WHERE id > 2;
--# UPDATE of nothing
UPDATE t SET name = 'z' WHERE false;
--# UPDATE with RETURNING
UPDATE t SET name = 'y' WHERE id > 2 RETURNING id, name;
--# with the old values, too
UPDATE t SET name = name || '!' WHERE id = 1 RETURNING old.name AS old, new.name AS new;
--# DELETE
DELETE FROM t WHERE id = 4;
--# DELETE with RETURNING
DELETE FROM t WHERE id = 3 RETURNING id;
--# MERGE
MERGE INTO t USING (VALUES (1, 'm'), (7, 'n')) AS s (id, name) ON t.id = s.id
WHEN MATCHED THEN UPDATE SET name = s.name
WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.name);
--# MERGE with RETURNING
MERGE INTO t USING (VALUES (1, 'o')) AS s (id, name) ON t.id = s.id
WHEN MATCHED THEN UPDATE SET name = s.name RETURNING merge_action(), t.*;
--# INSERT in a WITH is a SELECT
WITH i AS (INSERT INTO t VALUES (8, 'w') RETURNING id) SELECT * FROM i;
--# SELECT in a WITH of an INSERT
WITH s AS (SELECT 9 AS id) INSERT INTO t SELECT id, 'v' FROM s RETURNING id;
--# TABLE
TABLE t;
--# CREATE TABLE AS
CREATE TABLE u AS SELECT * FROM t;
--# CREATE TABLE AS without data
CREATE TABLE v AS SELECT * FROM t WITH NO DATA;
--# SELECT INTO
SELECT id INTO w FROM t;
--# CREATE MATERIALIZED VIEW
CREATE MATERIALIZED VIEW mv AS SELECT * FROM t;
--# REFRESH
REFRESH MATERIALIZED VIEW mv;
--# CREATE VIEW
CREATE VIEW view AS SELECT 1 AS one;
--# CREATE OR REPLACE VIEW
CREATE OR REPLACE VIEW view AS SELECT 1 AS one;
--# CREATE INDEX
CREATE INDEX ON t (name);
--# CREATE INDEX CONCURRENTLY
CREATE INDEX CONCURRENTLY t_c ON t (name);
--# REINDEX
REINDEX TABLE t;
--# CREATE SEQUENCE
CREATE SEQUENCE s;
--# nextval
SELECT nextval('s');
--# ALTER TABLE
ALTER TABLE t ADD COLUMN extra int DEFAULT 0;
--# COMMENT
COMMENT ON TABLE t IS 'a table';
--# CREATE SCHEMA
CREATE SCHEMA sch CREATE TABLE inner_t (n int);
--# DROP SCHEMA has a notice
DROP SCHEMA sch CASCADE;
--# IF NOT EXISTS has a notice
CREATE TABLE IF NOT EXISTS t (n int);
--# IF EXISTS has a notice
DROP TABLE IF EXISTS nothere;
--# DROP
DROP TABLE u, v, w;
--# TRUNCATE
TRUNCATE t;
--# GRANT
GRANT SELECT ON t TO public;
--# REVOKE
REVOKE SELECT ON t FROM public;
--# CREATE ROLE
CREATE ROLE differential_role;
--# GRANT of a role
GRANT differential_role TO CURRENT_USER;
--# ALTER ROLE
ALTER ROLE differential_role NOLOGIN;
--# DROP ROLE
DROP ROLE differential_role;
--# ANALYZE
ANALYZE t;
--# VACUUM
VACUUM t;
--# VACUUM of a table that is not there
VACUUM nothere;
--# CLUSTER
CLUSTER t USING t_pkey;
--# CHECKPOINT
CHECKPOINT;
--# CREATE STATISTICS
CREATE STATISTICS st ON id, name FROM t;
--# a rule
CREATE RULE r AS ON INSERT TO view DO INSTEAD NOTHING;
--# an INSERT that a rule swallows
INSERT INTO view VALUES (1);
--# an extension
CREATE EXTENSION IF NOT EXISTS plpgsql;
--# a publication
CREATE PUBLICATION p;
--# BEGIN
BEGIN;
--# BEGIN in a transaction
BEGIN;
--# SAVEPOINT
SAVEPOINT sp;
--# an error in a transaction
SELECT 1/0;
--# in a failed transaction
SELECT 1;
--# ROLLBACK TO
ROLLBACK TO sp;
--# RELEASE
RELEASE sp;
--# COMMIT
COMMIT;
--# COMMIT outside of a transaction
COMMIT;
--# ROLLBACK outside of a transaction
ROLLBACK;
--# START TRANSACTION
START TRANSACTION ISOLATION LEVEL SERIALIZABLE READ ONLY;
--# writing in a transaction that only reads
INSERT INTO t VALUES (1, 'a');
--# a COMMIT that answers ROLLBACK
COMMIT;
--# END
BEGIN; 
--# is a COMMIT
END;
--# ABORT
BEGIN ISOLATION LEVEL REPEATABLE READ;
--# is a ROLLBACK
ABORT;
--# COMMIT AND CHAIN
BEGIN;
--# goes on
COMMIT AND CHAIN;
--# until
ROLLBACK;
--# SET LOCAL outside of a transaction
SET LOCAL work_mem = '1MB';
--# SET TRANSACTION outside of a transaction
SET TRANSACTION ISOLATION LEVEL SERIALIZABLE;
--# LOCK
BEGIN;
--# of a table
LOCK TABLE t IN ACCESS EXCLUSIVE MODE;
--# a deferred constraint
CREATE TABLE deferred (id int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED);
--# violated
INSERT INTO deferred VALUES (1), (1);
--# fails at COMMIT
COMMIT;
--# PREPARE TRANSACTION
BEGIN;
--# named
PREPARE TRANSACTION 'differential';
--# ROLLBACK PREPARED
ROLLBACK PREPARED 'differential';
--# SET
SET work_mem = '5MB';
--# SHOW
SHOW work_mem;
--# SHOW of several words
SHOW TIME ZONE;
--# SHOW of the level
SHOW TRANSACTION ISOLATION LEVEL;
--# RESET
RESET work_mem;
--# SET SESSION AUTHORIZATION
SET SESSION AUTHORIZATION DEFAULT;
--# RESET ALL
RESET ALL;
--# set_config
SELECT set_config('my.setting', 'x', false);
--# SET CONSTRAINTS
SET CONSTRAINTS ALL DEFERRED;
--# PREPARE
PREPARE q (int) AS SELECT $1 AS n;
--# EXECUTE of a SELECT
EXECUTE q (5);
--# PREPARE of an INSERT
PREPARE i AS INSERT INTO t VALUES ($1, 'prepared') RETURNING id;
--# EXECUTE of an INSERT with RETURNING
EXECUTE i (20);
--# PREPARE of an UPDATE
PREPARE up AS UPDATE t SET name = 'p';
--# EXECUTE of it
EXECUTE up;
--# a prepared statement of that name
PREPARE q AS SELECT 1;
--# DEALLOCATE
DEALLOCATE q;
--# DEALLOCATE ALL
DEALLOCATE ALL;
--# DISCARD
DISCARD ALL;
--# DECLARE
BEGIN;
--# a cursor
DECLARE c SCROLL CURSOR FOR SELECT n, 'row ' || n AS text FROM generate_series(1, 10) AS n;
--# FETCH
FETCH c;
--# FETCH of several
FETCH 3 FROM c;
--# FETCH backwards
FETCH BACKWARD 2 FROM c;
--# MOVE
MOVE 5 FROM c;
--# FETCH of the rest
FETCH ALL FROM c;
--# FETCH of nothing
FETCH NEXT FROM c;
--# MOVE of nothing
MOVE FORWARD ALL IN c;
--# CLOSE
CLOSE c;
--# a cursor that is closed
FETCH c;
--# the end of it
ROLLBACK;
--# DO
DO $$ BEGIN NULL; END $$;
--# a procedure
CREATE PROCEDURE proc(a int, INOUT b int, OUT c text) LANGUAGE plpgsql AS $$ BEGIN b := a + b; c := 'out'; END $$;
--# CALL with parameters that come out
CALL proc(1, 2, NULL);
--# a procedure without any
CREATE PROCEDURE quiet(a int) LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'quiet %', a; END $$;
--# CALL
CALL quiet(1);
--# a procedure that commits
CREATE PROCEDURE commits() LANGUAGE plpgsql AS $$ BEGIN INSERT INTO t VALUES (30, 'x') ON CONFLICT DO NOTHING; COMMIT; INSERT INTO t VALUES (31, 'x'); ROLLBACK; END $$;
--# its CALL
CALL commits();
--# and in a transaction
BEGIN\; CALL commits();
--# over
ROLLBACK;
--# EXPLAIN
EXPLAIN SELECT * FROM t WHERE id = 1;
--# EXPLAIN without costs
EXPLAIN (COSTS OFF) SELECT * FROM t ORDER BY name;
--# EXPLAIN as JSON
EXPLAIN (COSTS OFF, FORMAT json) SELECT * FROM t;
--# EXPLAIN as YAML
EXPLAIN (COSTS OFF, FORMAT yaml) SELECT * FROM t;
--# EXPLAIN as XML
EXPLAIN (COSTS OFF, FORMAT xml) SELECT * FROM t;
--# EXPLAIN ANALYZE of an INSERT
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) INSERT INTO t VALUES (40, 'x') RETURNING *;
--# EXPLAIN of an error
EXPLAIN SELECT nothere;
--# several lines of a plan
EXPLAIN (COSTS OFF) SELECT * FROM t AS a JOIN t AS b USING (id) WHERE a.name = 'x' AND b.name LIKE '%y';
--# an empty statement
;
--# several statements in a message
SELECT 1 AS one\; SELECT 2 AS two;
--# commands in a message
CREATE TABLE m (n int)\; INSERT INTO m VALUES (1) RETURNING n\; DROP TABLE m;
--# an error in the middle of a message
SELECT 1 AS one\; SELECT 1/0\; SELECT 2 AS two;
--# an error with a place in a message
SELECT 1 AS one\; SELECT nothere\; SELECT 2 AS two;
--# a place in a message of several lines
SELECT 1 AS one\;
SELECT 2,
  nothere;
--# a syntax error anywhere in a message hinders all
SELECT 1 AS one\; SELEC 2;
--# notices in a message stand before the result before them
SELECT 1 AS one\; DO $$ BEGIN RAISE NOTICE 'n'; END $$\; SELECT 2 AS two;
--# and before an error
SELECT 1 AS one\; DO $$ BEGIN RAISE NOTICE 'n'; RAISE EXCEPTION 'e'; END $$;
--# a transaction in a message
BEGIN\; INSERT INTO t VALUES (50, 'x')\; COMMIT\; SELECT 1/0;
--# a warning in a message
BEGIN\; BEGIN\; COMMIT;
--# a warning at the end of a message
COMMIT\; SELECT 1 AS one;
--# empty statements in a message
SELECT 1 AS one\; \; SELECT 2 AS two;
--# large objects
SELECT lo_create(42);
--# written
SELECT lo_put(42, 0, 'abc');
--# read
SELECT lo_get(42);
--# removed
SELECT lo_unlink(42);
--# advisory locks
SELECT pg_advisory_lock(1), pg_try_advisory_lock(1, 2), pg_advisory_unlock(1);
--# an advisory lock that is not held
SELECT pg_advisory_unlock(99);
--# SECURITY LABEL without a provider
SECURITY LABEL ON TABLE t IS 'x';
--# IMPORT FOREIGN SCHEMA without a server
IMPORT FOREIGN SCHEMA x FROM SERVER y INTO z;
--# ALTER SYSTEM in a transaction
BEGIN\; ALTER SYSTEM SET work_mem = '1MB';
--# over again
ROLLBACK;
--# LOAD
LOAD 'plpgsql';
