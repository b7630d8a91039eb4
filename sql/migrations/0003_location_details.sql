-- What a place shows to people, such as a telephone number: texts by their names, which lookups give back. NULL where there
-- are none. Of its other members, `metadata`, nothing is given back.
--
-- 4,096 bytes as JSON without white space, as it is answered; PostgreSQL writes a space behind each colon and comma.
ALTER TABLE doorstep.locations
    ADD COLUMN details jsonb,
    ADD CONSTRAINT locations_details_are_texts CHECK (
        jsonb_typeof(details) = 'object' AND details <> '{}'
        AND NOT jsonb_path_exists(details, 'strict $.* ? (@.type() <> "string" || @ == "")', '{}', true)),
    ADD CONSTRAINT locations_details_length CHECK (
        octet_length(details::text) + 1 - 2 * jsonb_array_length(jsonb_path_query_array(details, '$.*')) <= 4096);

CREATE OR REPLACE TRIGGER record_routing_update AFTER UPDATE ON doorstep.locations
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT
    EXECUTE FUNCTION doorstep.record_routing_change('identifier', 'name, latitude, longitude, radius, details');

GRANT UPDATE (details) ON doorstep.locations TO doorstep_admin, doorstep_manager;
GRANT SELECT (details) ON doorstep.locations TO doorstep_router;
