--# division by zero has no place
SELECT 1/0;
--# a syntax error at the first word
SELEC 1;
--# at the semicolon
SELECT 1 +;
--# at a semicolon on a line of its own
SELECT 1 +
;
--# an unknown column
SELECT nothere FROM pg_class;
--# with a hint
SELECT relnam FROM pg_class;
--# an unknown table
SELECT * FROM nothere;
--# an unknown function has a detail and a hint
SELECT nothere(1, 'x');
--# an unknown operator
SELECT 1 ? 'x';
--# in the second line
SELECT 1,
       nothere
FROM pg_class;
--# in the last of many lines
SELECT 1,
2,
3,
4,
5,
6,
7,
8,
9,
nothere;
--# in a line that begins with tabs
SELECT 1,
		nothere	FROM	pg_class;
--# tabs before and behind
SELECT	1,	'a	b',	nothere;
--# behind wide characters
SELECT '世界', nothere;
--# behind letters with accents
SELECT 'éèê', "naïve";
--# behind emoji and combining characters
SELECT '😀', '👨‍👩‍👧', 'é', nothere;
--# behind characters without width
SELECT '​﻿́', nothere;
--# behind control characters
SELECT '', nothere;
--# behind control characters of the second kind
SELECT '­', nothere;
--# behind noncharacters
SELECT '🿾￿𯿾𯿿𿿾﷐􏿿', nothere;
--# a wide character in a line before
SELECT '世界
世', nothere;
--# a long line, the error at its start
SELECT nothere, 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx';
--# a long line, the error in its middle
SELECT 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', nothere, 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx';
--# a long line, the error at its end
SELECT 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', nothere;
--# a long line, the error just before the cut
SELECT 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', nothere, 'xxxxxxxxxxxxxxxxxxx';
--# one further
SELECT 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', nothere, 'xxxxxxxxxxxxxxxxxxx';
--# one further still
SELECT 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', nothere, 'xxxxxxxxxxxxxxxxxxx';
--# and another
SELECT 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', nothere, 'xxxxxxxxxxxxxxxxxxx';
--# a line of exactly sixty columns
SELECT nothere, 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', 1;
--# of sixty-one
SELECT nothere, 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', 1;
--# of sixty-two
SELECT nothere, 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', 1;
--# a long line of wide characters
SELECT '世界世界世界世界世界世界世界世界世界世界世界世界世界世界世界世界', nothere, '世界世界世界世界世界世界世界世界世界世界';
--# an odd cut among wide characters
SELECT 'x世界世界世界世界世界世界世界世界世界世界世界世界世界世界世界世界', nothere, 'x世界世界世界世界世界世界世界世界世界世界';
--# at the start of a long line of wide characters
SELECT nothere, '世界世界世界世界世界世界世界世界世界世界世界世界世界世界世界世界';
--# a long line amid short ones
SELECT 1,
  'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', nothere, 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
  2;
--# a long line with tabs
SELECT	'xxxxxxxxxx	xxxxxxxxxx	xxxxxxxxxx	xxxxxxxxxx	xxxxxxxxxx	xxxxxxx', nothere, 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxx';
--# a comment in the line of the error
SELECT /* a comment */ nothere -- and another
;
--# a block comment before the statement
/* this is
   about nothing */ SELECT nothere;
--# empty lines in a string
SELECT 'a


b',
nothere;
--# trailing spaces in the line
SELECT nothere   
  ;
--# an error at a quoted name
SELECT "No there" FROM pg_class;
--# an unterminated number
SELECT 1a;
--# casts that fail
SELECT 'abc'::int;
--# casts that fail at run time
SELECT t::int FROM (VALUES ('1'), ('x')) AS v (t);
--# a cast that is not there
SELECT true::date;
--# a date that is not there
SELECT '2026-02-30'::date;
--# a bad date in another style
SELECT '31/12/2026'::date;
--# bad json has a detail and a context
SELECT '{"a": 1,}'::json;
--# bad json of several lines
SELECT '{"a": 1,
"b" 2}'::jsonb;
--# a bad array
SELECT '{1,2'::int[];
--# a bad enum value
CREATE TYPE colour AS ENUM ('red');
--# and its use
SELECT 'blue'::colour;
--# out of range
SELECT 3000000000::int;
--# out of range for smallint
SELECT 40000::int2;
--# integer overflow
SELECT 2147483647 + 1;
--# the square root of a negative number
SELECT sqrt(-1);
--# a bad regular expression
SELECT 'a' ~ '(';
--# an invalid byte
SELECT convert_from('\xff', 'UTF8');
--# more than one row
SELECT (SELECT n FROM generate_series(1, 2) AS n);
--# an aggregate out of place
SELECT relname FROM pg_class WHERE count(*) > 1;
--# a missing GROUP BY
SELECT relname, count(*) FROM pg_class;
--# an ambiguous column
SELECT oid FROM pg_class, pg_type;
--# a table that is mentioned twice
SELECT * FROM pg_class, pg_class;
--# a missing FROM entry with a hint
SELECT pg_class.oid FROM pg_class AS c;
--# columns of UNION
SELECT 1 UNION SELECT 1, 2;
--# types of UNION
SELECT 1 UNION SELECT 'x';
--# ORDER BY a position
SELECT 1 ORDER BY 2;
--# a table with constraints
CREATE TABLE parent (id int PRIMARY KEY, name text NOT NULL UNIQUE, age int CHECK (age > 0));
--# another that refers to it
CREATE TABLE child (id int REFERENCES parent, during int4range, EXCLUDE USING gist (during WITH &&));
--# a row
INSERT INTO parent VALUES (1, 'a', 5);
--# a primary key violation has a detail
INSERT INTO parent VALUES (1, 'b', 5);
--# a unique violation
INSERT INTO parent VALUES (2, 'a', 5);
--# NOT NULL
INSERT INTO parent VALUES (2, NULL, 5);
--# CHECK
INSERT INTO parent VALUES (2, 'b', -5);
--# a foreign key violation
INSERT INTO child VALUES (9, NULL);
--# an exclusion violation
INSERT INTO child VALUES (1, '[1,5)'), (1, '[3,8)');
--# a foreign key violation from the other side
INSERT INTO child VALUES (1, '[1,5)');
--# and the DELETE
DELETE FROM parent;
--# a detail with wide characters and newlines
INSERT INTO parent VALUES (3, E'世界\n2', 1), (4, E'世界\n2', 1);
--# too many values
INSERT INTO parent VALUES (1, 'a', 5, 6);
--# more columns than values
INSERT INTO parent (id, name) VALUES (1);
--# an unknown column of INSERT
INSERT INTO parent (id, nme) VALUES (1, 'a');
--# a value of the wrong type
INSERT INTO parent VALUES ('x', 'a', 5);
--# an expression of the wrong type has a hint
UPDATE parent SET age = 'x'::text;
--# ON CONFLICT that fits nothing
INSERT INTO parent VALUES (1, 'a', 5) ON CONFLICT (age) DO NOTHING;
--# ON CONFLICT twice
INSERT INTO parent VALUES (1, 'a', 5), (1, 'b', 6) ON CONFLICT (id) DO UPDATE SET age = EXCLUDED.age;
--# it is there already
CREATE TABLE parent (n int);
--# others depend on it
DROP TABLE parent;
--# no such table to drop
DROP TABLE nothere;
--# no such column to drop
ALTER TABLE parent DROP COLUMN nothere;
--# no such type
CREATE TABLE t (a nothere);
--# no such schema
CREATE TABLE nothere.t (a int);
--# no such setting
SET nothere = 1;
--# a bad value of a setting
SET work_mem = 'x';
--# a value out of range
SET work_mem = 1;
--# a bad word, with the words that are good
SET default_transaction_isolation = 'x';
--# a setting of the server
SET max_connections = 10;
--# no such role
SET ROLE nothere;
--# outside of a transaction
SAVEPOINT s;
--# VACUUM in a function
DO $$ BEGIN EXECUTE 'VACUUM'; END $$;
--# an assertion
DO $$ BEGIN ASSERT 1 = 2, 'that is wrong'; END $$;
--# an error in PL/pgSQL has a context
DO $$
BEGIN
  PERFORM 1/0;
END
$$;
--# a function in PL/pgSQL
CREATE FUNCTION divide(a int, b int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  RETURN a / b;
END
$$;
--# and its error
SELECT divide(1, 0);
--# a function that calls it
CREATE FUNCTION outer_divide(a int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  result int;
BEGIN
  result := divide(a, 0);
  RETURN result;
END
$$;
--# a context of several lines
SELECT outer_divide(1);
--# a function in SQL
CREATE FUNCTION sql_divide(a int) RETURNS int LANGUAGE sql VOLATILE AS 'SELECT divide(a, 0) + random()::int';
--# its context
SELECT sql_divide(1);
--# a bad query in PL/pgSQL has a place in it
DO $$
BEGIN
  PERFORM nothere FROM pg_class;
END
$$;
--# a bad query in EXECUTE
DO $$ BEGIN EXECUTE 'SELECT nothere'; END $$;
--# of several lines
DO $$ BEGIN EXECUTE E'SELECT 1,\n\tnothere,\n  2'; END $$;
--# nested EXECUTE
DO $$ BEGIN EXECUTE $q$DO $x$ BEGIN EXECUTE 'SELEC 1'; END $x$ $q$; END $$;
--# a long query in EXECUTE
DO $$ BEGIN EXECUTE 'SELECT ''xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'', nothere, 1, 2, 3, 4, 5'; END $$;
--# wide characters in EXECUTE
DO $$ BEGIN EXECUTE 'SELECT ''世界'', nothere'; END $$;
--# a syntax error in PL/pgSQL
CREATE FUNCTION bad() RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  RETURN 1
END
$$;
--# a syntax error of PL/pgSQL itself
DO $$
BEGIN
  IF true THE
END
$$;
--# an unknown type in a declaration
DO $$
DECLARE
  x nothere;
BEGIN
END
$$;
--# a bad body of a function in SQL
CREATE FUNCTION bad() RETURNS int LANGUAGE sql AS 'SELECT nothere';
--# of several lines
CREATE FUNCTION bad() RETURNS int LANGUAGE sql AS $$
  SELECT 1;
  SELECT nothere;
$$;
--# with another return type
CREATE FUNCTION bad() RETURNS int LANGUAGE sql AS 'SELECT 1, 2';
--# a new style body
CREATE FUNCTION bad() RETURNS int
BEGIN ATOMIC
  SELECT 1;
  SELECT nothere;
END;
--# RAISE with everything
DO $$ BEGIN
  RAISE EXCEPTION 'the message' USING DETAIL = 'the detail', HINT = 'the hint', ERRCODE = '22012', COLUMN = 'c', CONSTRAINT = 'k', DATATYPE = 'd', TABLE = 't', SCHEMA = 's';
END $$;
--# RAISE with several lines in each
DO $$ BEGIN RAISE EXCEPTION E'a\nb' USING DETAIL = E'c\n\td', HINT = E'e\n'; END $$;
--# RAISE with a message that ends in newlines
DO $$ BEGIN RAISE EXCEPTION E'a\n\n'; END $$;
--# RAISE with an empty message
DO $$ BEGIN RAISE EXCEPTION '%', ''; END $$;
--# RAISE with an empty detail
DO $$ BEGIN RAISE EXCEPTION 'a' USING DETAIL = '', HINT = ''; END $$;
--# RAISE with control and wide characters
DO $$ BEGIN RAISE EXCEPTION E'a\tb\rc\x01 世界 \u0085'; END $$;
--# RAISE of a code only
DO $$ BEGIN RAISE division_by_zero; END $$;
--# an error of a trigger
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused %', NEW; END $$;
--# its trigger
CREATE TRIGGER refuse BEFORE UPDATE ON parent FOR EACH ROW EXECUTE FUNCTION refuse();
--# and the UPDATE
UPDATE parent SET age = 6;
--# a limit on nesting
CREATE FUNCTION recurse() RETURNS void LANGUAGE sql AS 'SELECT recurse()';
--# a cursor that is not there
FETCH nothere;
--# a prepared statement that is not there
EXECUTE nothere;
--# a parameter without a value
SELECT $1;
--# a parameter without a value, in the second line
SELECT 1
, $2;
--# a permission that is missing
CREATE ROLE differential_nobody;
--# in its shoes
SET ROLE differential_nobody;
--# it may not read
SELECT * FROM parent;
--# nor create
CREATE TABLE public.t (n int);
--# back
RESET ROLE;
--# without it
DROP ROLE differential_nobody;
--# a lock that is not there to have
SET statement_timeout = '20ms';
--# a statement that takes too long
SELECT pg_sleep(10);
--# no limit
RESET statement_timeout;
--# a lock outside of a transaction
LOCK TABLE parent;
--# XML that is not well-formed
SELECT '<a>'::xml;
--# a row that fails half-way gives only the error
SELECT 10 / (5 - n) FROM generate_series(1, 9) AS n;
