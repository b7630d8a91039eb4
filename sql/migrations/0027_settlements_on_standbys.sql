-- Settlements need neither a sequence nor an unlogged table. PostgreSQL 15 leaves the sequence of an unlogged table uninitialized on standbys:
-- after a failover each write failed with "bad magic number in sequence" [observed].
ALTER TABLE doorstep.usage_settlements ALTER COLUMN settlement_id DROP IDENTITY;
ALTER TABLE doorstep.usage_settlements SET LOGGED;
-- A transaction has at most one.
ALTER TABLE doorstep.usage_settlements ALTER COLUMN settlement_id SET DEFAULT pg_current_xact_id()::text::bigint;
