SELECT 1;
SELECT 2 -- the last word