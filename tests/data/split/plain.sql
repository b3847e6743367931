BEGIN;
SELECT 1 AS one, 2 AS two;
  SELECT 'indented';	SELECT 'after a tab';SELECT 'at once';
COMMIT;
