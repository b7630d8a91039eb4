-- Pages for people at the hosts that tenants have proved: where they are shown, and what of the catalogue servers keep in
-- memory to show them.

-- 'redirecting_short_codes': shown, and the URL of a short code leads on to the one that it stands for.
ALTER TABLE doorstep.domains
    ADD COLUMN pages text COLLATE "C" NOT NULL DEFAULT 'off',
    ADD CONSTRAINT domains_pages CHECK (pages IN ('off', 'on', 'redirecting_short_codes'));

GRANT UPDATE (pages) ON doorstep.domains TO doorstep_admin, doorstep_manager;

DO $$
DECLARE
    fed record;
BEGIN
    FOR fed IN
        SELECT * FROM (VALUES
            ('tenants', '',
                'name, suspended_at, key_rate, key_burst, client_rate, client_burst, new_instance_rate, '
                'new_instance_burst, client_new_instance_rate, client_new_instance_burst'),
            ('clips', 'bundle_id',
                'parent_bundle_id, team_id, app_id_prefix, multi_business, attestation, app_store_id, android_url, '
                'site_name, card, card_image'),
            ('domains', 'host', 'proved_at, content, pages'),
            ('locations', 'identifier', 'name, latitude, longitude, radius, details, card, card_image'),
            ('experiences', 'kind, url',
                'bundle_id, location_identifier, identifier_rule, title, subtitle, card, card_image')
        ) AS v (name, key_columns, other_columns)
    LOOP
        EXECUTE format(
            'CREATE OR REPLACE TRIGGER record_routing_update AFTER UPDATE ON doorstep.%I
             REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
             FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change(%L, %L)',
            fed.name, fed.key_columns, fed.other_columns);
    END LOOP;
END
$$;

GRANT SELECT (name) ON doorstep.tenants TO doorstep_router;
GRANT SELECT (app_store_id, android_url, site_name, card, card_image) ON doorstep.clips TO doorstep_router;
GRANT SELECT (pages) ON doorstep.domains TO doorstep_router;
GRANT SELECT (card, card_image) ON doorstep.locations TO doorstep_router;
GRANT SELECT (title, subtitle, card, card_image) ON doorstep.experiences TO doorstep_router;
