SELECT 1+-1, 2*-1, 3/-1, @-5, 5!=-5, |/ 25, 2^-1, 1<>-1;
SELECT 1-/* ; */-1, 1+--2;
3, 1*/* ; */2, 4@/*;*/-1;
SELECT 1::text, '1'::int::text, 'a'||'b', '{"a": 1}'::jsonb->>'a', '{"a": 1}'::jsonb ? 'a', 1 = ANY ('{1}');
SELECT (SELECT 1)::int, x.* FROM (SELECT 1) AS x;
