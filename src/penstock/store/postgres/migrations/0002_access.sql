-- The place of schema 2, which is made elsewhere: nothing is done here.
SELECT 1;
