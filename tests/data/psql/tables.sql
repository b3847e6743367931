--# NULL and the empty string look the same
SELECT NULL AS n, '' AS e, 1 AS one;
--# NULL in the last column
SELECT 1 AS one, NULL AS n;
--# an empty last column in several rows
SELECT n, CASE WHEN n % 2 = 0 THEN 'even' END AS kind FROM generate_series(1, 4) AS n;
--# no rows
SELECT 1 AS a, 'x' AS b WHERE false;
--# no columns
SELECT;
--# no columns, several rows
SELECT FROM generate_series(1, 3);
--# no columns, no rows
SELECT WHERE false;
--# a table without columns
CREATE TABLE bare ();
--# a row
INSERT INTO bare DEFAULT VALUES;
--# RETURNING needs a column
INSERT INTO bare DEFAULT VALUES RETURNING *;
--# and all of them
TABLE bare;
--# one row, one column
SELECT 1;
--# two rows
VALUES (1), (2);
--# VALUES of several columns
VALUES (1, 'one'), (2, 'two'), (3, 'three');
--# a heading of odd and even widths is centred
SELECT 'abcdef' AS a, 'abcdef' AS ab, 'abcdef' AS abc, 'abcde' AS a, 'abcde' AS ab;
--# numbers under a heading
SELECT 1 AS a, 100000 AS b, 1 AS abcdef, 1000000 AS abc;
--# columns of the same name
SELECT 1 AS a, 2 AS a, 3 AS a;
--# columns without a name
SELECT 1, 'x', true, now() IS NULL, NULL;
--# names with spaces at their ends
SELECT 1 AS " a ", 2 AS "  ", 3 AS "b  ";
--# names with quotes and other marks
SELECT 1 AS "A ""quoted"" name", 2 AS "a|b", 3 AS "a+b", 4 AS "%d", 5 AS "\n";
--# a long name
SELECT 1 AS a_name_of_exactly_sixty_three_bytes_which_is_the_longest_there_is_;
--# a name that is too long is cut, with a notice
SELECT 1 AS a_name_that_is_longer_than_sixty_three_bytes_which_is_the_longest_there_is;
--# a name that is cut within a character
SELECT 1 AS aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaéé;
--# a heading of two lines
SELECT 1 AS "a
b";
--# headings of different heights
SELECT 1 AS "one
two
three", 'x' AS "x", 2 AS "wide heading
b";
--# a heading of several lines in the last column
SELECT 1 AS n, 2 AS "first line
2nd";
--# a heading that ends in a newline
SELECT 1 AS "a
", 2 AS b;
--# a heading that is only a newline
SELECT 'abc' AS "
";
--# a heading that begins with a newline, beside one that is wide
SELECT 'abc' AS "
x", 'y' AS "界
x";
--# a tab in a heading
SELECT 1 AS "a	b", 2 AS c;
--# cells of several lines
SELECT E'one\ntwo\nthree' AS a, 1 AS b;
--# several lines in the last column
SELECT 1 AS a, E'one\ntwo\nthree' AS b;
--# several lines in both
SELECT E'1\n2' AS a, E'one\ntwo\nthree' AS b, E'x\ny\nz\nw' AS c;
--# lines of different widths
SELECT E'a\nlonger line\n\nb' AS a, E'\n\n' AS b, 'end' AS c;
--# a cell that ends in a newline
SELECT E'a\n' AS a, 1 AS b;
--# the last cell ends in a newline
SELECT 1 AS a, E'b\n' AS b;
--# only a newline
SELECT E'\n' AS a;
--# only newlines in two columns
SELECT E'\n\n' AS a, E'\n' AS b;
--# several rows with several lines each
SELECT n, repeat(E'line\n', n) || 'end' AS lines, 'x' AS x FROM generate_series(0, 2) AS n;
--# a column of one kind of line beside an empty one
SELECT '' AS e, E'a\nb' AS a, '' AS e, NULL AS n;
--# trailing spaces in the last column are kept
SELECT 'a  ' AS a;
--# trailing spaces elsewhere
SELECT 'a  ' AS a, '  b' AS b, ' ' AS c;
--# a type that stands to the right can have several lines, too, through its heading
SELECT 1 AS "a
b", 22222 AS "c
d
e";
--# a tab
SELECT E'a\tb' AS t;
--# tabs go to stops of eight columns
SELECT E'\t' AS a, E'1234567\tx' AS b, E'12345678\tx' AS c, E'123456789\tx\ty' AS d;
--# a tab after a wide character
SELECT E'界\tx' AS a, E'é\ty' AS b, E'\u0301\tz' AS c;
--# tabs in several lines
SELECT E'a\tb\n\tc\nddddddddd\te' AS t, 1 AS n;
--# a carriage return
SELECT E'a\rb' AS cr, E'a\r\nb' AS crlf, E'\r' AS only;
--# control characters
SELECT E'\x01\x02\x1b[31mred\x7f' AS c, E'\b\f\v' AS d;
--# control characters of the second kind
SELECT E'a\u0080\u0085\u009fb' AS c1, E'\u00a0' AS nbsp, E'a\u00adb' AS shy;
--# control characters in a heading
SELECT 1 AS U&"a\0001b", 2 AS U&"\000dx", 3 AS U&"\0085";
--# letters with accents
SELECT 'é' AS "é", 'naïve' AS "ïï", 'ß' AS "größe";
--# combining characters
SELECT E'e\u0301a\u0308' AS combined, E'\u0301' AS alone, 'x' AS x;
--# Chinese, Japanese, Korean
SELECT '世界' AS zh, 'こんにちは' AS ja, '한국어' AS ko, 'ｆｕｌｌ' AS full, 'ﾊﾝｶｸ' AS half;
--# wide headings
SELECT 1 AS "世界", 'abcdefg' AS "世", 'abcdefgh' AS "世", 'x' AS "世界 and 한국";
--# emoji
SELECT '😀' AS e, '👍🏽' AS skin, '🇫🇷' AS flag, '❤️' AS heart, '☃' AS snow;
--# emoji joined by a joiner
SELECT '👨‍👩‍👧‍👦' AS family, '🏳️‍🌈' AS rainbow, 'x' AS x;
--# from right to left
SELECT 'שלום' AS he, 'مرحبا' AS ar, E'\u202eabc\u202c' AS override;
--# characters without width
SELECT E'a\u200bb' AS zwsp, E'\ufeffx' AS bom, E'a\u2060b' AS wj, 'x' AS x;
--# Thai, Devanagari, Hangul of parts
SELECT 'ที่นี่' AS th, 'नमस्ते' AS hi, E'\u1112\u1161\u11ab' AS jamo, 'x' AS x;
--# private use and unassigned code points
SELECT U&'\E000' AS pua, U&'\+10FFFD' AS last, U&'\0378' AS unassigned, U&'\+02FFFD' AS wide;
--# noncharacters: some are shown, some are left out
SELECT U&'\FFFF' AS a, U&'\FDD0' AS b, U&'x\+01FFFEy' AS c, U&'\+10FFFF' AS d, 'x' AS x;
--# a heading with a noncharacter
SELECT 1 AS U&"x\+01FFFFy";
--# ambiguous width
SELECT '§' AS a, 'α' AS b, '─' AS c, '…' AS d, '①' AS e, 'Я' AS f;
--# wide characters over several lines
SELECT E'世\nab\n世界' AS w, E'😀\nx' AS e, 1 AS n;
--# a long row
SELECT repeat('x', 200) AS a, repeat('y', 200) AS b;
--# a very long cell of several lines
SELECT repeat('long ', 100) || E'\n' || repeat('z', 50) AS a, 1 AS b;
--# many columns
SELECT 1 AS c1, 2 AS c2, 3 AS c3, 4 AS c4, 5 AS c5, 6 AS c6, 7 AS c7, 8 AS c8, 9 AS c9, 10 AS c10, 11 AS c11, 12 AS c12, 13 AS c13, 14 AS c14, 15 AS c15, 16 AS c16, 17 AS c17, 18 AS c18, 19 AS c19, 20 AS c20, 21 AS c21, 22 AS c22, 23 AS c23, 24 AS c24, 25 AS c25, 26 AS c26, 27 AS c27, 28 AS c28, 29 AS c29, 30 AS c30;
--# many rows
SELECT n, md5(n::text) FROM generate_series(1, 1200) AS n;
--# backslashes and marks of psql's own
SELECT '\N' AS a, '\.' AS b, '|' AS c, '-+-' AS d, ':x' AS e;
--# marks that look like a footer
SELECT '(1 row)' AS "(1 row)";
--# a semicolon and comments within
SELECT ';' AS a, /* a comment; */ 1 AS b -- another; one
, 2 AS c;
--# dollar quotes
SELECT $$a;b
c$$ AS d, $x$ $$ $x$ AS e;
