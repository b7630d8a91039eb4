"""A tenant whose rows cannot be read in time, and revocations of another tenant's keys beside it."""

import asyncio
import time
import types
import uuid

from installation import SITE, Client, Failure

TENANT = "frozen"
# One statement that changes more than 1,000 rows makes the server copy the tenant.
ROWS = 1_200
# The time to read a row while the tenant is frozen: a page of the copy takes longer than the statement timeout.
SECONDS_PER_ROW = 0.05
REVOCATION_LIMIT = 1
START_LIMIT = 60


class FrozenTenant:
    """Freezes a tenant for the lookup index only: other roles read its rows at the usual speed."""

    def __init__(self, installation, ledger):
        self.installation, self.ledger, self.is_set_up = installation, ledger, False
        ledger.revocations = {}

    def set_up(self):
        installation = self.installation
        installation.on_database("tenant", "create", TENANT, "--name", "Frozen")
        rows = "".join(f"l{number},Location {number},37.3,-122,100\n" for number in range(ROWS))
        installation.on_database(
            "location", "import", "--tenant", TENANT, "-", text=f"identifier,name,latitude,longitude,radius\n{rows}")
        self.tenant = installation.query(f"SELECT tenant_id FROM doorstep.tenants WHERE slug = '{TENANT}'")[0][0]
        installation.query(f"""
            CREATE SCHEMA drill;
            GRANT USAGE ON SCHEMA drill TO doorstep_router;
            CREATE TABLE drill.freeze (is_on boolean NOT NULL);
            INSERT INTO drill.freeze VALUES (false);
            CREATE FUNCTION drill.read_slowly() RETURNS boolean LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
            BEGIN
                IF (SELECT is_on FROM drill.freeze) THEN PERFORM pg_sleep({SECONDS_PER_ROW}); END IF;
                RETURN true;
            END $$;
            CREATE POLICY drill_freeze ON doorstep.locations AS RESTRICTIVE FOR SELECT TO doorstep_router
                USING (tenant_id <> '{self.tenant}' OR drill.read_slowly())""")
        self.is_set_up = True

    def freeze(self):
        self.installation.query(f"""
            UPDATE drill.freeze SET is_on = true;
            SET doorstep.tenant_id = '{self.tenant}';
            UPDATE doorstep.locations SET radius = 300 - radius WHERE tenant_id = '{self.tenant}'""")

    def thaw(self):
        self.installation.query("UPDATE drill.freeze SET is_on = false")

    async def revoke(self, ports):
        """Revokes a key while the tenant is frozen; each server must refuse it within a second of the response."""
        if not self.is_set_up:
            await asyncio.to_thread(self.set_up)
        await asyncio.to_thread(self.freeze)
        client = Client(self.installation, self.installation.secret)
        holders = []
        try:
            status, made = await client.insist(
                "POST", "/v1/keys", {"kind": "secret", "scopes": ["lookup"]}, Idempotency_Key=str(uuid.uuid4()))
            if status != 201:
                raise Failure(f"a key was answered {status}: {made}")
            holders = [Client(types.SimpleNamespace(port=port), made["key"]) for port in ports]
            for holder in holders:
                await self.wait_until_admitted(holder)
            status, response = await client.insist("DELETE", f"/v1/keys/{made['id']}")
            self.ledger.expect(status in (200, 202, 204, 404), f"a revocation was answered {status}: {response}")
            revoked_at = time.monotonic()
            self.ledger.revocations[made["id"]] = max([await self.lag(holder, revoked_at) for holder in holders])
        finally:
            for each in (client, *holders):
                each.close()
            await asyncio.to_thread(self.thaw)

    async def wait_until_admitted(self, holder):
        deadline = time.monotonic() + START_LIMIT
        while await self.status(holder) == 401:
            if time.monotonic() > deadline:
                raise Failure(f"a new key is not known after {START_LIMIT} s")
            await asyncio.sleep(0.02)

    async def lag(self, holder, revoked_at):
        """Returns the time from the revocation until the last request that was admitted was sent."""
        last = revoked_at
        while True:
            sent_at = time.monotonic()
            if await self.status(holder) == 401:
                return last - revoked_at
            last = sent_at
            if last > revoked_at + START_LIMIT:
                return last - revoked_at
            await asyncio.sleep(0.02)

    async def status(self, holder):
        return (await holder.insist("GET", f"/v1/lookup?url={SITE}/restaurants/table/order/1"))[0]
