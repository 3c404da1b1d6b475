"""Few files name an operation with regions, since ir/regions.hpp has the common properties of such operations: at most LIMIT may name the
operation `loop`. Those that do give it its text, its verification, its derivative, its update, and its code in an executor.

    operations.py LIMIT FOLDER...
"""
import pathlib
import re
import sys

limit = int(sys.argv[1])
files = [path for folder in sys.argv[2:] for path in sorted(pathlib.Path(folder).rglob("*"))
         if path.suffix in (".hpp", ".cpp") and not path.is_symlink()]
naming = [path for path in files if re.search(r"\b(primitive|opcode|op)::loop\b", path.read_text(errors="replace"))]
if not files or not naming:
    sys.exit("no source that names the operation `loop` was found")
if len(naming) > limit:
    print(*naming, sep="\n")
    sys.exit(f"{len(naming)} files name the operation `loop`, and {limit} may: ask ir/regions.hpp for what it has in common with others")
