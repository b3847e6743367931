--# a table
CREATE TABLE t (id int, name text, note text);
--# COPY FROM STDIN
COPY t FROM STDIN;
--<
1	a	\N
2	b b	x\ty
3	\\	
--# COPY TO STDOUT prints no tag
COPY t TO STDOUT;
--# of a query
COPY (SELECT id, name FROM t ORDER BY id DESC) TO STDOUT;
--# of no row
COPY (SELECT 1 WHERE false) TO STDOUT;
--# of no row with a header
COPY (SELECT 1 AS one WHERE false) TO STDOUT (HEADER);
--# of no column
COPY (SELECT FROM t) TO STDOUT;
--# as CSV
COPY t TO STDOUT (FORMAT csv);
--# as CSV with a header
COPY t TO STDOUT WITH (FORMAT csv, HEADER, FORCE_QUOTE *);
--# with another delimiter and NULL
COPY t TO STDOUT (DELIMITER '|', NULL 'null');
--# wide and control characters
COPY (SELECT '世界', E'a\tb\nc\\d\re\x01') TO STDOUT;
--# cells that end in empty lines
COPY (SELECT E'\n\n') TO STDOUT (FORMAT csv);
--# rows that are empty
COPY (SELECT '' FROM generate_series(1, 3)) TO STDOUT;
--# many rows
COPY (SELECT n, repeat('x', 100) FROM generate_series(1, 300) AS n) TO STDOUT;
--# a long row
COPY (SELECT repeat('x', 20000)) TO STDOUT;
--# an error in the middle
COPY (SELECT 10 / (3 - n) FROM generate_series(1, 5) AS n) TO STDOUT;
--# a noisy function
CREATE FUNCTION noisy(n int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'noisy %', n; RETURN n; END $$;
--# notices among the data
COPY (SELECT noisy(n) FROM generate_series(1, 3) AS n) TO STDOUT;
--# an unknown table
COPY nothere TO STDOUT;
--# an unknown column
COPY t (id, nothere) TO STDOUT;
--# an error of the query
COPY (SELECT nothere FROM t) TO STDOUT;
--# an option that is not known
COPY t TO STDOUT (FORMAT nothere);
--# RETURNING
COPY (UPDATE t SET note = 'z' RETURNING id) TO STDOUT;
--# COPY in a message
SELECT 1 AS one\; COPY t TO STDOUT\; SELECT 2 AS two;
--# two in a message
COPY t (id) TO STDOUT\; COPY t (name) TO STDOUT;
--# with notices around
DO $$ BEGIN RAISE NOTICE 'a'; END $$\; COPY t (id) TO STDOUT\; DO $$ BEGIN RAISE NOTICE 'b'; END $$;
--# an error after it
COPY t (id) TO STDOUT\; SELECT 1/0;
--# empty COPY, then another command
COPY (SELECT 1 WHERE false) TO STDOUT\; CREATE TABLE after_copy (n int);
--# COPY FROM with an error in the data
COPY t FROM STDIN;
--<
4	d	x
five	e	x
--# with a missing column
COPY t FROM STDIN;
--<
4	d
--# with too many
COPY t FROM STDIN;
--<
4	d	x	y
--# a very long line in the context
COPY t (id) FROM STDIN;
--<
xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
--# COPY FROM of nothing
COPY t FROM STDIN;
--<
--# COPY FROM as CSV with a header
COPY t FROM STDIN (FORMAT csv, HEADER);
--<
id,name,note
5,"quoted, and
of two lines",
--# errors that are passed over
COPY t (id) FROM STDIN (ON_ERROR ignore, LOG_VERBOSITY verbose);
--<
6
seven
8
--# COPY FROM with WHERE
COPY t (id) FROM STDIN WHERE id > 10;
--<
9
11
--# what is there
SELECT * FROM t ORDER BY id;
--# a file that is not there
COPY t FROM '/nothere/nothere';
