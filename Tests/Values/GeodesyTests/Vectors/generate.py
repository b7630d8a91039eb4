#!/usr/bin/env python3
"""Writes geodesic.csv, the reference distances of the Geodesy tests.

Source of the distances: GeographicLib by C. F. F. Karney, its Python package geographiclib 2.1 from PyPI,
Geodesic.WGS84.Inverse (accurate to 15 nm). Seeded: every run writes the same bytes.

    pip install geographiclib==2.1
    python3 generate.py
"""

import math
import random
from importlib.metadata import version
from pathlib import Path

from geographiclib.geodesic import Geodesic

VERSION = "2.1"
assert version("geographiclib") == VERSION, f"needs geographiclib {VERSION}"

rng = random.Random("doorstep geodesy")
rows = []


def wrapped(longitude):
    return math.remainder(longitude, 360)


def uniform_place():
    """Uniform by area, over the whole globe."""
    return math.degrees(math.asin(rng.uniform(-1, 1))), rng.uniform(-180, 180)


def add(lat1, lon1, lat2, lon2, digits):
    """Rounds first, measures then: the distance is that of the numbers in the file."""
    place = [round(number, digits) + 0.0 for number in (lat1, lon1, lat2, lon2)]
    rows.append((digits, place, Geodesic.WGS84.Inverse(*place)["s12"]))


def add_near(lat, lon, meters, azimuth=None, digits=10):
    if azimuth is None:
        azimuth = rng.uniform(-180, 180)
    lat, lon = round(lat, digits), round(lon, digits)
    end = Geodesic.WGS84.Direct(lat, lon, azimuth, meters)
    add(lat, lon, end["lat2"], wrapped(end["lon2"]), digits)


def up_to_a_kilometer():
    return rng.uniform(0, 999.9)


def around_a_region():
    """As far as the radii of regions are large: 0 to 500 m."""
    return rng.uniform(0, 500)


# Up to 1 km.
for _ in range(4000):
    add_near(*uniform_place(), up_to_a_kilometer())
for _ in range(2000):
    add_near(*uniform_place(), around_a_region())
for _ in range(1000):  # beside, on and across the equator
    add_near(rng.choice([0, rng.uniform(-0.005, 0.005)]), rng.uniform(-180, 180), up_to_a_kilometer())
for _ in range(1500):  # 70 to 90 degrees, north and south
    add_near(rng.choice([-1, 1]) * rng.uniform(70, 90), rng.uniform(-180, 180), up_to_a_kilometer())
for _ in range(700):  # around the poles and over them
    add_near(rng.choice([-1, 1]) * (90 - 10 ** rng.uniform(-7, -2)), rng.uniform(-180, 180), up_to_a_kilometer())
for _ in range(300):  # from the poles
    pole, meters = rng.choice([-90, 90]), up_to_a_kilometer()
    end = Geodesic.WGS84.Direct(pole, 0, 0 if pole < 0 else 180, meters)
    add(pole, rng.uniform(-180, 180), end["lat2"], rng.uniform(-180, 180), 10)
for _ in range(1000):  # across the antimeridian
    lat = uniform_place()[0]
    add_near(lat, rng.choice([-180, 180, wrapped(180 + rng.uniform(-0.004, 0.004))]), up_to_a_kilometer())
for _ in range(600):  # along a meridian
    add_near(*uniform_place(), up_to_a_kilometer(), rng.choice([0, 180]))
for _ in range(600):  # along a parallel
    lat, lon = uniform_place()
    span = up_to_a_kilometer() / (112_000 * math.cos(math.radians(lat)))
    add(lat, lon, lat, wrapped(lon + span), 10)
for _ in range(600):  # millimetres to a metre
    add_near(*uniform_place(), 10 ** rng.uniform(-3, 0), digits=13)
for _ in range(200):  # the same place
    lat, lon = uniform_place()
    add(lat, lon, lat, lon, 10)

# Up to the antipode.
for _ in range(600):  # from 1 to 100 km, where the method changes
    add_near(*uniform_place(), 10 ** rng.uniform(3.01, 5))
for _ in range(100):
    add_near(*uniform_place(), rng.uniform(9_990, 10_010))
for _ in range(700):
    add(*uniform_place(), *uniform_place(), 10)
for _ in range(100):  # from pole to anywhere
    add(rng.choice([-90, 90]), rng.uniform(-180, 180), *uniform_place(), 10)
for _ in range(50):  # nearly from pole to pole
    add(90 - 10 ** rng.uniform(-9, -3), 0, -90 + rng.choice([0, 10 ** rng.uniform(-9, -3)]), rng.uniform(0, 180), 10)
for _ in range(200):  # along the equator, and nearly so
    lat1, lat2 = (rng.choice([0, rng.uniform(-1e-6, 1e-6)]) for _ in range(2))
    add(lat1, 0, lat2, rng.uniform(0, 180), 10)
for _ in range(200):  # parallels of the same width
    lat = uniform_place()[0]
    add(lat, 0, rng.choice([-1, 1]) * lat + rng.choice([0, rng.uniform(-1e-6, 1e-6)]), rng.uniform(0, 180), 10)
for _ in range(800):  # nearly antipodal
    lat, lon = uniform_place()
    off = 10 ** rng.uniform(-9, 0)
    lat2 = max(-90, min(90, -lat + off * rng.choice([0, rng.uniform(-1, 1)])))
    add(lat, lon, lat2, wrapped(lon + 180 + off * rng.choice([0, rng.uniform(-1, 1)])), 10)
for _ in range(200):  # antipodal, or on the opposite meridian
    lat, lon = round(rng.choice([0, uniform_place()[0]]), 10), round(rng.uniform(-180, 0), 10)
    add(lat, lon, rng.choice([-lat, -0.99 * lat, uniform_place()[0]]), lon + 180, 10)


def text(number, digits):
    return f"{number:.{digits}f}".rstrip("0").rstrip(".")


path = Path(__file__).with_name("geodesic.csv")
with path.open("w", newline="\n") as file:
    print(f"# Geodesic.WGS84.Inverse of geographiclib {VERSION} (C. F. F. Karney); see generate.py", file=file)
    print("lat1,lon1,lat2,lon2,meters", file=file)
    for digits, place, meters in rows:
        print(*(text(number, digits) for number in place), text(meters, 9), sep=",", file=file)

short = sum(meters <= 1000 for _, _, meters in rows)
print(f"{path.name}: {short} distances up to 1 km, {len(rows) - short} longer, {path.stat().st_size} bytes")
