CREATE TEMPORARY TABLE split_t (id int);
CREATE RULE split_r AS ON INSERT TO split_t DO ALSO (
  SELECT 1;
  SELECT 2;
);
SELECT ((1) + (2)) AS "(";
SELECT ')', '(', $$($$ /* ( */ -- (
;
SELECT 1);
SELECT ARRAY[1, 2][1], ('{1,2}'::int[])[1:2];
