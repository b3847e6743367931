;
BEGIN;; COMMIT;
/* nothing */;
  ;
