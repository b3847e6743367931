-- A line.

/* A block
   of two lines. */
-- Another line.
