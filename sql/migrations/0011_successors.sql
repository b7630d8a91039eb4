-- Keys that were replaced, and launches that are known whoever came back.

ALTER TABLE doorstep.api_keys
    -- By what a rotation replaced it: a key is replaced once.
    ADD COLUMN successor_id uuid;
GRANT UPDATE (successor_id) ON doorstep.api_keys TO doorstep_admin;

ALTER TABLE doorstep.launches
    -- When the first launch by the URL was reported.
    ADD COLUMN known_since timestamptz NOT NULL DEFAULT now();
