-- What a site's association file says beside the clips, App IDs of old apps, and when a webhook's secret was replaced.

ALTER TABLE doorstep.clips
    -- What the App IDs of the clip and of its app begin with; NULL for the team's ID, as of all but old apps.
    ADD COLUMN app_id_prefix text COLLATE "C",
    ADD CONSTRAINT clips_app_id_prefix_form CHECK (app_id_prefix ~ '^[A-Z0-9]{10}$');

ALTER TABLE doorstep.domains
    -- What the tenant's other services need in the association file, which it is merged into. The program takes 32 KiB;
    -- jsonb writes a space after each colon and comma, and its own digits of numbers.
    ADD COLUMN content jsonb,
    ADD CONSTRAINT domains_content_is_object CHECK (jsonb_typeof(content) = 'object'),
    ADD CONSTRAINT domains_content_length CHECK (octet_length(content::text) <= 131072);

-- What a trigger looks at is told to it when it is made.
DROP TRIGGER record_routing_update ON doorstep.clips;
CREATE TRIGGER record_routing_update AFTER UPDATE ON doorstep.clips
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change(
        'bundle_id', 'parent_bundle_id, team_id, app_id_prefix, multi_business');

DROP TRIGGER record_routing_update ON doorstep.domains;
CREATE TRIGGER record_routing_update AFTER UPDATE ON doorstep.domains
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION doorstep.record_routing_change('host', 'proved_at, content');

-- The audit log leaves the secret out, and so saw no change where it alone was replaced. Sealing it anew is none.
ALTER TABLE doorstep.webhooks ADD COLUMN secret_changed_at timestamptz NOT NULL DEFAULT now();

GRANT UPDATE (app_id_prefix) ON doorstep.clips TO doorstep_admin;
GRANT UPDATE (content) ON doorstep.domains TO doorstep_admin;
GRANT UPDATE (secret_changed_at) ON doorstep.webhooks TO doorstep_admin;
GRANT SELECT (app_id_prefix) ON doorstep.clips TO doorstep_router;
GRANT SELECT (content) ON doorstep.domains TO doorstep_router;
