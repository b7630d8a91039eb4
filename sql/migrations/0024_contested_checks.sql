-- A contest is dated by the start of the rival's check, so it can be stored after a later check of the holder began. What the
-- last check knew is compared now, and not the two times.
ALTER TABLE doorstep.domain_checks
    -- The rival claim's contested_at that the last check knew; NULL if it knew of none.
    ADD COLUMN contested_at timestamptz;

GRANT UPDATE (contested_at) ON doorstep.domain_checks TO doorstep_app;
GRANT SELECT (contested_at) ON doorstep.domain_checks TO doorstep_router;
