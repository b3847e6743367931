SELECT 1;
SELECT 2

, 3; -- c
SELECT	4
