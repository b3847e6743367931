SELECT 'it''s; one', '', '''', ';';
SELECT 'a backslash \', 'is nothing special; ';
SELECT E'but \'here; ', e'\\', E'\\\'', E'x';
SELECT 'two'
  'pieces; ' 'x' = 'x';
SELECT B'0101', X'1F', b'', N'n;', U&'d\0061t\+000061;', u&'\\';
SELECT U&"d\0061t;" FROM (SELECT 1 AS "dat;") AS x;
SELECT "odd "" name;" FROM (SELECT 1 AS "odd "" name;") AS x;
SELECT type'x;' FROM (SELECT 1) AS e;
SELECT 'Zoë; 漢字' AS größe;
SELECT 'a -- no comment', 'a /* no comment', "a -- b" FROM (SELECT 1 AS "a -- b") AS x;
SELECT U&'!0061' UESCAPE '!', U&'\\' UESCAPE '\';
