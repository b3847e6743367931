--# integers and the like stand to the right
SELECT 1::int2 AS small, 22::int4 AS int, 333::int8 AS big, 4444::oid AS oid, '5'::xid AS xid, '6'::xid8 AS xid8, '7'::cid AS cid;
--# their widest and their NULLs
SELECT * FROM (VALUES (1::int2, 1::int4, 1::int8, 1::oid), (-32768, -2147483648, -9223372036854775808, 4294967295), (NULL, NULL, NULL, NULL)) AS t (small, int, big, oid);
--# floating point
SELECT 1.5::float4 AS f4, 1e300::float8 AS f8, 'NaN'::float8 AS nan, '-Infinity'::float4 AS inf, 1/3::float8 AS third;
--# numeric
SELECT 1.50 AS a, 0.1 + 0.2 AS b, 'NaN'::numeric AS c, 1e30::numeric AS d, NULL::numeric AS e;
--# money
SELECT '12.34'::money AS cents, '-1000000'::money AS minus;
--# numeric-like types in several rows
SELECT n AS int, n * 1.5 AS num, n::float8 / 3 AS f, n::text AS text FROM generate_series(8, 12) AS n;
--# text types
SELECT 'text'::text, 'varchar'::varchar(20), 'char'::char(8), 'x'::"char", 'name'::name, 'unknown';
--# a blank-padded column beside another
SELECT 'ab'::char(5) AS c, 'z' AS z;
--# bytea
SELECT '\xdeadbeef'::bytea AS hex, ''::bytea AS empty;
--# bytea in the old format
SET bytea_output = 'escape';
--# bytea with escapes
SELECT '\x00017e7fff5c'::bytea;
--# back to hexadecimal
RESET bytea_output;
--# booleans stand to the left
SELECT true AS t, false AS f, NULL::bool AS n, 'a longer text' AS long;
--# booleans under a wide heading
SELECT true AS "a wide heading", 1 AS "another wide heading";
--# dates and times
SELECT date '2026-01-01' AS d, time '09:00' AS t, timetz '09:00+02' AS tz, timestamp '2026-01-01 09:00:00.123456' AS ts, timestamptz '2026-01-01 09:00+00' AS tstz;
--# infinite dates
SELECT 'infinity'::date, '-infinity'::timestamp, date '0044-03-15 BC';
--# intervals stand to the left
SELECT interval '1 year 2 mons 3 days 04:05:06.7' AS i, interval '-1 day' AS j, interval '0' AS z;
--# several intervals
SELECT n * interval '90 minutes' AS span FROM generate_series(0, 3) AS n;
--# arrays
SELECT ARRAY[1,2,3] AS i, ARRAY['a','b c','"q"', NULL] AS t, '{}'::int[] AS e, ARRAY[[1,2],[3,4]] AS m;
--# an array with other bounds
SELECT '[2:4]={1,2,3}'::int[];
--# ranges
SELECT int4range(1, 5) AS r, 'empty'::int8range AS e, numrange(NULL, 2.5) AS n, '{[1,3),[5,6)}'::int4multirange AS m;
--# range of timestamps
SELECT tsrange('2026-01-01', '2026-02-01', '[]');
--# a composite type
CREATE TYPE pair AS (x int, y text);
--# composite values
SELECT (1, 'a b')::pair AS p, ROW(NULL, '')::pair AS q, (ROW(2, 'z')::pair).*;
--# an anonymous record
SELECT ROW(1, 'two', 3.0, NULL);
--# a record beside a number
SELECT ROW(1, 2) AS r, 5 AS n;
--# json
SELECT '{"a": [1, 2]}'::json AS j, '{"b":1,"a":[1,2.50]}'::jsonb AS b, 'null'::jsonb AS n;
--# pretty json has several lines
SELECT jsonb_pretty('{"a": {"b": [1, 2]}, "c": null}') AS pretty;
--# pretty json in the middle
SELECT 1 AS n, jsonb_pretty('{"a": 1}') AS pretty, 'x' AS last;
--# jsonpath
SELECT '$.a[*] ? (@ > 1)'::jsonpath;
--# uuid
SELECT 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid AS id;
--# network addresses
SELECT '10.0.0.1'::inet, '10.1.0.0/16'::cidr, '08:00:2b:01:02:03'::macaddr, '08:00:2b:01:02:03:04:05'::macaddr8, '::1/64'::inet;
--# bit strings
SELECT B'101' AS b, B'1'::varbit AS v, 5::bit(8) AS n;
--# an enum
CREATE TYPE mood AS ENUM ('sad', 'ok', 'very happy');
--# enum values
SELECT unnest(enum_range(NULL::mood)) AS mood;
--# a domain of integers
CREATE DOMAIN positive AS int CHECK (VALUE > 0);
--# a domain is aligned as its base type
SELECT 5::positive AS p, 'text' AS t, 7::positive AS "a wide name";
--# a domain of text
CREATE DOMAIN word AS text;
--# and its values
SELECT 'a'::word AS w, 1 AS n;
--# text search
SELECT to_tsvector('simple', 'the quick brown fox') AS v, to_tsquery('simple', 'quick & !brown') AS q;
--# geometry
SELECT point(1, 2), box(point(0,0), point(1,1)), circle(point(0,0), 2), lseg(point(0,0), point(1,1)), path '((0,0),(1,1))', polygon '((0,0),(1,1),(2,0))', line '{1,2,3}';
--# log sequence numbers
SELECT '16/B374D848'::pg_lsn AS lsn, '0/0'::pg_lsn AS zero, '16/B374D848'::pg_lsn - '16/B374D840'::pg_lsn AS diff;
--# names of objects
SELECT 'pg_class'::regclass, 'int4'::regtype, 'now'::regproc, 'pg_catalog'::regnamespace, 'pg_monitor'::regrole, 'abs(int)'::regprocedure, '+(int,int)'::regoperator;
--# regclass in several rows beside a number
SELECT c::regclass AS name, 1 AS n FROM unnest(ARRAY['pg_class', 'pg_attribute', 'pg_type']) AS c;
--# "char"
SELECT 'r'::"char" AS c, ''::"char" AS empty, 65::"char" AS n;
--# tuple identifiers, snapshots
SELECT '(0,1)'::tid AS tid, '10:20:10,14,15'::pg_snapshot AS snapshot, '10:20:10'::txid_snapshot AS old;
--# a function that returns void
CREATE FUNCTION nothing() RETURNS void LANGUAGE sql AS '';
--# void
SELECT nothing();
--# void beside a number
SELECT nothing(), 1 AS n;
--# void in a FROM clause
SELECT * FROM nothing() AS v;
--# xml, if it is built
SELECT xmlcomment('x');
--# int2vector, oidvector
SELECT '1 2 3'::int2vector AS i, '4 5'::oidvector AS o;
--# access privileges
SELECT '{pg_monitor=arwdDxt/pg_monitor,=r/pg_monitor}'::aclitem[];
--# refcursor
SELECT 'c'::refcursor;
--# cstring and internal pseudo-types
SELECT int4out(42) AS cstring, textsend('a') AS sent;
--# pg_node_tree of a default
CREATE TABLE defaults (n int DEFAULT 42, t text DEFAULT 'x'::text);
--# expression text
SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef ORDER BY adnum;
