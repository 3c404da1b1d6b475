"""Each file that docs/architecture.md or CONTRIBUTING.md names exists, and its name is that of one file only: the page has as much of the
path as that needs. Files called `name` are examples.

    paths.py PAGE...
"""
import pathlib
import re
import sys

# Names that the page uses as examples.
EXAMPLES = {"src/x/y.cpp", "include/overdub/x/y.hpp", "threads.cpp"}
FOLDERS = ["include/overdub", "src", "contexts", "tests", "examples", "bench"]

files = [str(path) for folder in FOLDERS for path in pathlib.Path(folder).rglob("*") if path.is_file() and "implementation" not in path.parts]
files = [file for file in files if not file.startswith("include/overdub/contexts/")]  # a link to contexts/
faults, names = [], 0
for page in sys.argv[1:]:
    for number, line in enumerate(pathlib.Path(page).read_text().splitlines(), 1):
        for name in re.findall(r"`([\w/.-]+\.(?:hpp|cpp|def|py|od))`", line):
            names += 1
            found = [file for file in files if file == name or file.endswith("/" + name)]
            if name not in EXAMPLES and pathlib.PurePath(name).stem != "name" and len(found) != 1:
                faults.append(f"{page}:{number}: `{name}` is {' and '.join(sorted(found)) or 'no file'}")
print(*faults, sep="\n")
print(f"{names} names of files, {len(faults)} are not those of one file")
sys.exit(len(faults) > 0 or names < 50)
