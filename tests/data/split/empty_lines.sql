

SELECT 1,

  2,
   

  3

;
SELECT 'kept


in quotes', $$kept

in dollars$$, "kept

in identifiers"

FROM (SELECT 4 AS "kept

in identifiers") AS x /* kept

in comments */

ORDER BY

1;
