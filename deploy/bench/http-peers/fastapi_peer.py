"""The lookup as one would write it with FastAPI, asyncpg and uvicorn, on Doorstep's own tables.

It does less than Doorstep: URLs are taken as they come and registered without queries, each place is bound to its
experience, and the login is the private server's superuser, so that one statement is enough where row-level
security takes a transaction that names the tenant. Keys are read once and kept.
"""

import contextlib
import hashlib
import os
import shlex
from collections.abc import AsyncIterator
from typing import Annotated
from urllib.parse import urlsplit

import asyncpg
import orjson
from fastapi import FastAPI, Header, Request, Response

CONNECTIONS = 8  # of each worker

LOOKUP = """
    SELECT e.url, e.kind, e.bundle_id, l.identifier, l.name, l.latitude, l.longitude, l.radius
    FROM doorstep.experiences e
    JOIN doorstep.locations l ON l.tenant_id = e.tenant_id AND l.identifier = e.location_identifier
    WHERE e.tenant_id = $1 AND e.kind IN ('advanced', 'default', 'demo') AND e.url = ANY ($2)
    ORDER BY length(e.url) DESC, e.kind
    LIMIT 1
    """


def connection_parameters() -> dict[str, str]:
    """What DATABASE_URL says, a connection string of libpq's with keywords, as asyncpg takes it."""
    pairs = dict(word.split("=", 1) for word in shlex.split(os.environ["DATABASE_URL"]))
    return {"database" if name == "dbname" else name: value for name, value in pairs.items()}


@contextlib.asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    async with asyncpg.create_pool(
        **connection_parameters(), min_size=CONNECTIONS, max_size=CONNECTIONS
    ) as pool:
        app.state.pool = pool
        app.state.tenants = {}
        yield


app = FastAPI(lifespan=lifespan, openapi_url=None)


async def tenant_of_key(authorization: str, state) -> str | None:
    digest = hashlib.sha256(authorization.removeprefix("Bearer ").encode()).digest()
    if digest not in state.tenants:
        row = await state.pool.fetchrow(
            "SELECT tenant_id FROM doorstep.api_keys WHERE digest = $1 AND revoked_at IS NULL", digest
        )
        if row is None:
            return None
        state.tenants[digest] = row["tenant_id"]
    return state.tenants[digest]


def prefixes(url: str) -> list[str]:
    """The URLs without a query that the URL begins with: its host's, then with one path component more each."""
    parts = urlsplit(url)
    urls = [f"https://{parts.netloc}"]
    for component in parts.path.split("/")[1:]:
        urls.append(f"{urls[-1]}/{component}")
    return urls


@app.get("/v1/lookup")
async def lookup(request: Request, url: str, authorization: Annotated[str, Header()] = "") -> Response:
    state = request.app.state
    tenant = await tenant_of_key(authorization, state)
    if tenant is None:
        return Response(status_code=401)
    row = await state.pool.fetchrow(LOOKUP, tenant, prefixes(url))
    if row is None:
        return Response(status_code=404)
    center = {"latitude": row["latitude"], "longitude": row["longitude"]}
    answer = {
        "experience": {"clip": row["bundle_id"], "kind": row["kind"], "url": row["url"]},
        "location": {
            "identifier": row["identifier"],
            "name": row["name"],
            "region": {"center": center, "identifier": row["identifier"], "radius": row["radius"]},
        },
        "url": url,
    }
    return Response(orjson.dumps(answer), media_type="application/json")
