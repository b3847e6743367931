CREATE FUNCTION pg_temp.one() RETURNS int
BEGIN ATOMIC
  SELECT CASE WHEN true THEN 1 END;

  SELECT 2;
END;
CREATE OR REPLACE FUNCTION pg_temp.two(a int DEFAULT (1)) RETURNS int LANGUAGE sql
begin atomic; select a; end;
CREATE PROCEDURE pg_temp.three() LANGUAGE plpgsql AS $$ BEGIN PERFORM 1; END; $$;
CREATE OR REPLACE PROCEDURE pg_temp.four()
BEGIN ATOMIC
  SELECT (CASE WHEN false THEN 1 END), CASE 1 WHEN 1 THEN 2 END;
END;
CREATE FUNCTION pg_temp.five() RETURNS int RETURN 5;
BEGIN;
SELECT CASE WHEN true THEN 1 END;
END;
CREATE TABLE pg_temp.function_begin (id int);
create function pg_temp."begin"() returns int language sql as 'select 1;'; select 6;
