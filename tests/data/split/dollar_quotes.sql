SELECT $$;$$, $a$;$$;$a$, $a$ $b$ ; $b$ $a$, $A$;$a$;$A$;
SELECT $$it's; "quoted" -- and /* not */$$;
SELECT $größe$;$größe$, $_1$;$_1$;
SELECT a$b, a$$ FROM (SELECT 1 AS a$b, 2 AS a$$) AS x;
SELECT $1$$;$$;
SELECT 1 $ 2; SELECT $tag without end; SELECT $9a$ ;
DO $do$
BEGIN
  RAISE NOTICE '$$ in a block';

  PERFORM 1;
END;
$do$;
