SELECT E'one'
'two\'; SELECT three' ';
