SELECT ':not', :unset, :'unset', :"unset", :'two words', a[1:n], 1::int, :begin;
SELECT 'after';
