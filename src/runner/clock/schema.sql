-- The virtual clock. The first two functions and statement_timestamp() are inlined, so that an index
-- condition stays one; they read what the runner has set in the session.
CREATE SCHEMA lockstep_clock;
GRANT USAGE ON SCHEMA lockstep_clock TO PUBLIC;
-- Now, in microseconds since 1970. Everybody sees at once what is set here, whatever snapshot they use.
CREATE SEQUENCE lockstep_clock.clock MINVALUE -9223372036854775808 START 0;
GRANT SELECT ON SEQUENCE lockstep_clock.clock TO PUBLIC;
CREATE FUNCTION lockstep_clock.transaction_timestamp() RETURNS timestamp with time zone
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT pg_catalog.current_setting('lockstep.transaction_start')::timestamp with time zone $$;
CREATE FUNCTION lockstep_clock.now() RETURNS timestamp with time zone
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT pg_catalog.current_setting('lockstep.transaction_start')::timestamp with time zone $$;
CREATE FUNCTION lockstep_clock.statement_timestamp() RETURNS timestamp with time zone
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT pg_catalog.current_setting('lockstep.statement_start')::timestamp with time zone $$;
-- These two move while a statement runs: they are no constants for an index, here as in pg_catalog.
CREATE FUNCTION lockstep_clock.clock_timestamp() RETURNS timestamp with time zone
    LANGUAGE plpgsql VOLATILE PARALLEL SAFE
    AS $$
    DECLARE
        microseconds bigint := pg_catalog.pg_sequence_last_value('lockstep_clock.clock'::regclass);
    BEGIN
        -- In two parts, because a number is multiplied with an interval as double precision.
        RETURN 'epoch'::timestamp with time zone
            + microseconds / 1000000 * interval '1 second'
            + microseconds % 1000000 * interval '1 microsecond';
    END $$;
CREATE FUNCTION lockstep_clock.timeofday() RETURNS text
    LANGUAGE sql VOLATILE PARALLEL SAFE
    AS $$ SELECT pg_catalog.to_char(lockstep_clock.clock_timestamp(), 'Dy Mon DD HH24:MI:SS.US YYYY TZ') $$;
