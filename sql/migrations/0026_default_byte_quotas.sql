-- Every kind has a default quota of bytes. Every server holds keys, clips and proved domains in memory: 10,000 keys that are restricted to
-- 100 locations each took 680 MiB.
UPDATE doorstep.quota_defaults SET maximum_bytes = 67108864
WHERE kind IN ('channels', 'clips', 'domains', 'keys') AND maximum_bytes IS NULL;
