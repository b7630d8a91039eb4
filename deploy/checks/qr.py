"""Compares QR codes with segno's, module by module, and reads them with zbarimg.

usage: qr.py PROGRAM FOLDER
"""

import pathlib
import random
import re
import string
import subprocess
import sys

import segno
import segno.encoder

VERSIONS = range(1, 14)
# Bytes at level M, ISO/IEC 18004:2015, table 7.
CAPACITIES = [14, 26, 42, 62, 84, 106, 122, 152, 180, 213, 251, 287, 331]
MASKS = range(8)
URLS = 1000
SEED = 18004
SCALE = 3  # pixels of a module

IMAGE = re.compile(
    r'<svg xmlns="http://www\.w3\.org/2000/svg" viewBox="0 0 (\d+) \1" shape-rendering="crispEdges">'
    r'<rect width="\1" height="\1" fill="#fff"/><path d="((?:M\d+ \d+h\d+v1h-\d+z)+)"/></svg>')
RUN = re.compile(r"M(\d+) (\d+)h(\d+)v1h-(\d+)z")


def write_padding_bits(buffer, _, length):
    """Replaces segno's function: if the data end with a codeword, segno 1.6.6 adds eight bits, and the standard none (7.4.10)."""
    buffer.extend([0] * (-length % 8))


segno.encoder.write_padding_bits = write_padding_bits


def fail(problem):
    sys.exit(f"qr: {problem}")


def random_url(random, length):
    """A URL with this number of bytes, of the characters of canonical URLs."""
    characters = string.ascii_letters + string.digits + "-._~/?&=%:@!$'()*+,;"
    start = "https://a.example/"
    return (start + "".join(random.choices(characters, k=max(0, length - len(start)))))[:length]


def cases():
    """Yields (mask or None, text)."""
    source = random.Random(SEED)
    for version in VERSIONS:
        smallest = CAPACITIES[version - 2] + 1 if version > 1 else 1
        for length in smallest, CAPACITIES[version - 1]:
            for mask in [*MASKS, None]:
                yield mask, random_url(source, length)
    for _ in range(URLS):
        yield None, random_url(source, source.randint(19, CAPACITIES[-1]))


def read(image):
    """Returns the rows of an SVG image with the quiet zone: a byte for each module, 1 for dark."""
    match = IMAGE.fullmatch(image)
    if not match:
        fail(f"no image of ours: {image[:200]!r}")
    size = int(match[1])
    rows = [bytearray(size) for _ in range(size)]
    for x, y, width, back in (map(int, run.groups()) for run in RUN.finditer(match[2])):
        if width != back:
            fail(f"a run that does not close: {image[:200]!r}")
        rows[y][x:x + width] = bytes([1]) * width
    return rows


def check_text(mask, text, rows):
    """Compares the modules with segno's. Without a mask, segno chooses it by the standard's penalty."""
    version = next(v for v, capacity in zip(VERSIONS, CAPACITIES) if capacity >= len(text))
    other = segno.make(text, error="m", mode="byte", version=version, mask=mask, boost_error=False)
    if [bytes(row) for row in rows] != [bytes(row) for row in other.matrix_iter(border=4)]:
        fail(f"other modules than segno's, version {version}, mask {mask} (segno: {other.mask}): {text}")


def bitmap(rows):
    """A portable graymap, each module of some pixels."""
    size = len(rows) * SCALE
    lines = b"".join(
        bytes(0 if module else 255 for module in row for _ in range(SCALE)) * SCALE for row in rows)
    return b"P5 %d %d 255\n" % (size, size) + lines


def decode(images, folder):
    """Returns what zbarimg reads in each image, all in one process."""
    paths = []
    for number, rows in enumerate(images):
        path = folder / f"{number:05}.pgm"
        path.write_bytes(bitmap(rows))
        paths.append(path)
    read = subprocess.run(
        ["zbarimg", "--quiet", "--nodbus", "--raw", "-Sdisable", "-Sqrcode.enable", *paths],
        stdout=subprocess.PIPE, check=False, text=True)
    return read.stdout.splitlines()


def main(program, folder):
    asked = list(cases())
    lines = "".join(f"{'-' if mask is None else mask} {text}\n" for mask, text in asked)
    made = subprocess.run([program], input=lines, stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()
    if len(made) != len(asked):
        fail(f"{len(asked)} codes were asked for, {len(made)} came")
    images = [read(image) for image in made]
    for (mask, text), rows in zip(asked, images):
        check_text(mask, text, rows)
    texts = decode(images, pathlib.Path(folder))
    if texts != [text for _, text in asked]:
        wrong = next((text for (_, text), other in zip(asked, texts) if text != other), None)
        fail(f"zbarimg read {len(texts)} of {len(asked)} codes; the first otherwise: {wrong}")

    refused = subprocess.run(
        [program], input=f"- {'a' * (CAPACITIES[-1] + 1)}\n- é\n", stdout=subprocess.PIPE, check=True, text=True).stdout
    if refused.split() != ["too_long", "not_ascii"]:
        fail(f"what has no code was answered by {refused!r}")
    print(f"qr: {len(asked)} codes, every version with every mask and {URLS} URLs: the modules are segno's, zbarimg reads them")


main(*sys.argv[1:])
