-- Adds places :first to :last to ten tenants by turns, each a location and an advanced experience that is bound
-- to it. The same places every time. For a superuser, since triggers are kept still: what they record is of no use
-- here, and what they check holds by the way the rows are made.
\set ON_ERROR_STOP on

SET session_replication_role = replica;

CREATE TEMPORARY TABLE places AS
    SELECT tenant_id, city || '-' || n AS identifier,
        initcap(owner) || ' ' || initcap(trade) || ' ' || n || ', ' || initcap(city) AS name,
        'https://places.example.com/' || city || '/' || owner || '-' || trade || '-' || n AS url,
        latitude, longitude, radius, n
    FROM generate_series(:first::bigint, :last) AS n,
        -- Numbers that are spread over 32 bits, no two the same.
        LATERAL (SELECT n * 2654435761 % 4294967296 AS h, n * 2246822519 % 4294967296 AS g) AS spread,
        LATERAL (
            SELECT md5('tenant ' || n % 10)::uuid AS tenant_id,
                ('{amsterdam,berlin,chicago,dublin,eindhoven,florence,geneva,hamburg,istanbul,jakarta,kyoto,lisbon,'
                    'madrid,nairobi,oslo,paris,quito,rome,seattle,tokyo}'::text[])[1 + h / 8 % 20] AS city,
                ('{harbor,station,garden,market,river,corner,castle,bridge,museum,square}'::text[])[1 + h / 160 % 10]
                    AS owner,
                ('{coffee,bakery,books,bikes,donuts,flowers,pizza,tea,parking,laundry}'::text[])[1 + h / 1600 % 10]
                    AS trade,
                round(160.0 * h / 4294967296 - 80, 6)::double precision AS latitude,
                round(358.0 * g / 4294967296 - 179, 6)::double precision AS longitude,
                ('{50,100,200,500}'::double precision[])[1 + g / 8 % 4] AS radius
        ) AS place;

INSERT INTO doorstep.tenants (tenant_id, slug, name)
    SELECT DISTINCT tenant_id, 'tenant-' || n % 10, 'Tenant ' || n % 10 FROM places
    ON CONFLICT DO NOTHING;

INSERT INTO doorstep.clips (tenant_id, bundle_id, parent_bundle_id, team_id)
    SELECT tenant_id, 'com.example.Places.Clip', 'com.example.Places', 'ABCDE12345' FROM doorstep.tenants
    ON CONFLICT DO NOTHING;

INSERT INTO doorstep.locations (tenant_id, identifier, name, latitude, longitude, radius)
    SELECT tenant_id, identifier, name, latitude, longitude, radius FROM places ORDER BY n;

INSERT INTO doorstep.experiences (tenant_id, kind, url, bundle_id, location_identifier)
    SELECT tenant_id, 'advanced', url, 'com.example.Places.Clip', identifier FROM places ORDER BY n;

DROP TABLE places;
RESET session_replication_role;

-- As autovacuum would in time: whoever reads the rows first would otherwise mark each of them as committed.
VACUUM (ANALYZE);
CHECKPOINT;
