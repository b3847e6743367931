--# a notice
DO $$ BEGIN RAISE NOTICE 'a notice'; END $$;
--# a warning
DO $$ BEGIN RAISE WARNING 'a warning'; END $$;
--# an info
DO $$ BEGIN RAISE INFO 'an info'; END $$;
--# a log is not sent
DO $$ BEGIN RAISE LOG 'a log'; END $$;
--# unless it is asked for
SET client_min_messages = 'log';
--# a log
DO $$ BEGIN RAISE LOG 'a log'; END $$;
--# debug messages are asked for
SET client_min_messages = 'debug1';
--# a debug message
DO $$ BEGIN RAISE DEBUG 'a debug message'; END $$;
--# those of the server
CREATE TABLE debugged (id int PRIMARY KEY);
--# no more
RESET client_min_messages;
--# errors only
SET client_min_messages = 'error';
--# no notice
DO $$ BEGIN RAISE NOTICE 'a notice'; END $$;
--# all again
RESET client_min_messages;
--# a notice with everything, but no context
DO $$ BEGIN
  RAISE NOTICE 'the message' USING DETAIL = 'the detail', HINT = 'the hint', ERRCODE = '01000';
END $$;
--# several lines
DO $$ BEGIN RAISE NOTICE E'one\ntwo\n' USING DETAIL = E'three\nfour'; END $$;
--# several notices, then a table
CREATE FUNCTION noisy(n int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'noisy %', n; RETURN n; END $$;
--# notices come before the rows they are about
SELECT noisy(n) FROM generate_series(1, 3) AS n;
--# notices, then an error
SELECT noisy(n) / (2 - n) FROM generate_series(1, 3) AS n;
--# a notice with a place
CREATE FUNCTION place() RETURNS void LANGUAGE plpgsql SET plpgsql.extra_warnings = 'all' AS $$ BEGIN END $$;
--# warnings of PL/pgSQL have a place
SET plpgsql.extra_warnings = 'all';
--# a variable that hides another
CREATE FUNCTION shadowed(a int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  a int;
BEGIN
  RETURN a;
END
$$;
--# no more of them
RESET plpgsql.extra_warnings;
--# a type that is only a shell
CREATE FUNCTION shell_in(cstring) RETURNS shell LANGUAGE internal STRICT IMMUTABLE AS 'int4in';
--# escapes that are out of use
SET standard_conforming_strings = off;
--# warn at their place
SELECT 'a\\b',
  'c\nd';
--# on again
RESET standard_conforming_strings;
--# a truncated identifier
CREATE TABLE a_table_with_a_name_that_is_longer_than_sixty_three_bytes_and_is_cut (n int);
--# an identity that is dropped by CASCADE
CREATE TABLE base (id int PRIMARY KEY)\; CREATE TABLE one (id int REFERENCES base)\; CREATE TABLE two (id int REFERENCES base);
--# tells what it drops
DROP TABLE base CASCADE;
--# inherited columns
CREATE TABLE above (a int);
--# are merged
CREATE TABLE below (a int, b int) INHERITS (above);
--# a notice within an exception block
DO $$ BEGIN RAISE EXCEPTION 'inner'; EXCEPTION WHEN OTHERS THEN RAISE NOTICE 'caught: %, %', SQLERRM, SQLSTATE; END $$;
--# LISTEN
LISTEN channel;
--# NOTIFY without a payload
NOTIFY channel;
--# NOTIFY with a payload
NOTIFY channel, 'the payload';
--# pg_notify, beside a table
SELECT pg_notify('channel', 'from a function');
--# a payload with marks of all kinds
NOTIFY channel, 'a "quoted" 世界	tab
and line';
--# a channel with a wide name
LISTEN "世 界";
--# several notifications come in order
BEGIN\; NOTIFY channel, 'one'\; NOTIFY "世 界", 'two'\; NOTIFY channel, 'one'\; COMMIT;
--# in a transaction they wait
BEGIN;
--# for its end
NOTIFY channel, 'late';
--# which is now
COMMIT;
--# a transaction that is rolled back sends nothing
BEGIN\; NOTIFY channel, 'never'\; ROLLBACK;
--# an error after a notification
NOTIFY channel, 'before'\; SELECT 1/0;
--# an error in the next statement
SELECT 1/0;
--# a notice with a notification
DO $$ BEGIN PERFORM pg_notify('channel', 'x'); RAISE NOTICE 'n'; END $$;
--# UNLISTEN
UNLISTEN channel;
--# to nobody
NOTIFY channel, 'nobody';
--# UNLISTEN of all
UNLISTEN *;
--# a payload that is too long
SELECT pg_notify('channel', repeat('x', 8000));
