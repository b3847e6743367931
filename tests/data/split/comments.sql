-- Before the first statement.
SELECT 1 -- within; no end
  , 2; -- behind, on the same line
/* a block stays */ SELECT /* with ; in it */ 3;
SELECT 4 /* nested /* twice; */ still ; */ + 1;
SELECT 5--no space
;
SELECT 6/**/+/***/1; /* it's */ SELECT 7 /*/ ; */ ;
SELECT 8 -- it's
-- a line between; indeed

-- and one behind an empty line
;
-- At the very end.
