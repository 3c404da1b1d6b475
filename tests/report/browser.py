#!/usr/bin/env python3
"""Opens reports in headless Chromium, without a network.

usage: browser.py <chromium> <program that writes pages into the current folder, and its arguments>

Each page is opened as it is, for a picture, which must not be blank; and with added scripts, which measure the rendered
page: its pictures are well-formed and have drawn elements of some size inside of their frames, the page is no wider than the window,
no request was made, and no text of the page became a script.
"""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
import zlib

browser, *program = sys.argv[1:]
failures = []

# The page itself has no script, and forbids any: the copy that is measured has neither that rule nor other scripts.
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
LISTEN = """<script>
window.errors = [];
window.onerror = message => { errors.push(String(message)); };
</script>
"""
MEASURE = """<script>
window.onload = () => {
  const pictures = [...document.querySelectorAll('svg')].map(svg => {
    const frame = svg.getBoundingClientRect();
    const drawn = [...svg.querySelectorAll('path, rect, line')].map(e => e.getBBox());
    const texts = [...svg.querySelectorAll('text')].map(e => e.getBoundingClientRect());
    return {
      title: svg.querySelector('title').textContent,
      width: frame.width, height: frame.height,
      drawn: drawn.filter(b => b.width + b.height > 0).length,
      outside: texts.filter(b => b.left < frame.left - 2 || b.top < frame.top - 2 || b.bottom > frame.bottom + 2).length};
  });
  const report = {
    errors, pictures, title: document.title,
    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    requests: performance.getEntriesByType('resource').map(e => e.name),
    foreign: document.querySelectorAll('img, iframe, object, embed, link, script').length - 2};
  document.body.textContent = 'MEASURED' + JSON.stringify(report) + 'END';
};
</script>
"""


def fail(*what):
    failures.append(" ".join(str(w) for w in what))


def run(profile, page, *options):
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}",
               "--host-resolver-rules=MAP * ~NOTFOUND", *options, "file://" + page]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
    if done.returncode:
        fail(f"the browser returned {done.returncode}:", done.stderr[-2000:])
    return done.stdout


def pixels(path):
    """The rows of a PNG of 8 bits a channel, as bytes."""
    with open(path, "rb") as file:
        data = file.read()
    place, packed = 8, b""
    while place < len(data):
        length, kind = struct.unpack(">I4s", data[place:place + 8])
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", data[place + 8:place + 18])
        if kind == b"IDAT":
            packed += data[place + 8:place + 8 + length]
        place += length + 12
    size = {2: 3, 6: 4}[colour]
    assert depth == 8
    raw, before, rows = zlib.decompress(packed), bytes(width * size), []
    for y in range(height):
        at = y * (width * size + 1)
        kind, row = raw[at], bytearray(raw[at + 1:at + 1 + width * size])
        for i in range(len(row)):
            a, b, c = (row[i - size] if i >= size else 0), before[i], (before[i - size] if i >= size else 0)
            nearest = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            row[i] = (row[i] + (0, a, b, (a + b) // 2, nearest)[kind]) % 256
        rows.append(bytes(row))
        before = row
    return [[row[i:i + 3] for i in range(0, len(row), size)] for row in rows]


def check_text(name, page):
    if re.search(r"https?://|src=|url\(|<script|@import", re.sub(r"&lt;.*?&gt;", "", page)):
        fail(name, "refers to what is not in it")
    if not POLICY.search(page):
        fail(name, "does not forbid the browser to fetch anything")
    for picture in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        try:
            xml.etree.ElementTree.fromstring(picture)
        except xml.etree.ElementTree.ParseError as error:
            fail(name, "has a picture that is not well-formed:", error)


def check_measures(name, dom, pictures):
    found = re.search(r"MEASURED(.*)END", dom, re.DOTALL)
    if not found:
        return fail(name, "was not measured:", dom[:500])
    unescaped = found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", " ").replace("&amp;", "&")
    report = json.loads(unescaped)
    for what in ("errors", "requests", "foreign"):
        if report[what]:
            fail(name, "has", what, report[what])
    if report["title"] == "hit":
        fail(name, "has text that became a script")
    if report["wide"] > 0:
        fail(name, "is wider than the window")
    if len(report["pictures"]) != pictures:
        fail(name, "has", len(report["pictures"]), "pictures, and not", pictures)
    for picture in report["pictures"]:
        if picture["width"] < 50 or picture["height"] < 20 or picture["drawn"] < 1:
            fail(name, "has an empty picture:", picture)
        if picture["outside"] and "<" not in picture["title"]:  # texts that fill a page do not fit in
            fail(name, "has text outside of its picture:", picture)


def check_picture(name, path):
    rows = pixels(path)
    colours = {pixel for row in rows for pixel in row}
    ground = rows[0][0]
    inked = sum(pixel != ground for row in rows for pixel in row)
    if len(colours) < 50 or inked < 0.05 * len(rows) * len(rows[0]):
        fail(name, "is blank:", len(colours), "colours,", inked, "pixels")


with tempfile.TemporaryDirectory() as folder:
    subprocess.run(program, check=True, cwd=folder)
    profile = os.path.join(folder, "profile")
    pages = sorted(name.removesuffix(".html") for name in os.listdir(folder) if name.endswith(".html"))
    if not pages:
        fail("no pages were written")
    for name in pages:
        path = os.path.join(folder, name + ".html")
        with open(path, encoding="utf-8") as file:
            page = file.read()
        check_text(name, page)
        measured = os.path.join(folder, name + "_measured.html")
        with open(measured, "w", encoding="utf-8") as file:
            file.write(POLICY.sub(lambda _: LISTEN, page).replace("</body>", MEASURE + "</body>"))
        for width in (1040, 500):
            check_measures(f"{name}, {width} pixels wide,", run(profile, measured, f"--window-size={width},800", "--dump-dom"),
                           page.count("<svg"))
        picture = os.path.join(folder, name + ".png")
        run(profile, path, "--window-size=700,600", f"--screenshot={picture}")
        check_picture(name, picture)

print("\n".join(failures) or "the pages are as they should be")
sys.exit(bool(failures))
