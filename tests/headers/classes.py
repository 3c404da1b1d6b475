"""A class can be read as a whole: it has at most 60 member functions and 15 data members.

    classes.py FOLDER...
"""
import pathlib
import re
import sys

FUNCTIONS, MEMBERS = 60, 15


def code(text):
    """The text without comments, literals and preprocessor lines."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r'"(\\.|[^"\\\n])*"', '""', text)
    text = re.sub(r"'(\\.|[^'\\\n])'", "0", text)
    return re.sub(r"^\s*#(.*\\\n)*.*$", "", text, flags=re.MULTILINE)


def own_text(text, at):
    """The text of a class whose body begins at `at`, where nested braces and parentheses are empty."""
    kept, braces, parentheses = [], 1, 0
    while braces and at < len(text):
        c = text[at]
        at += 1
        if c == "{":
            braces += 1
            if braces == 2 and parentheses == 0:
                kept.append("{}")
        elif c == "}":
            braces -= 1
        elif braces == 1:
            parentheses -= c == ")"
            if parentheses == 0:
                kept.append("()" if c == ")" else "" if c == "(" else c)
            parentheses += c == "("
    return "".join(kept)


def size(body):
    """The number of member functions and of data members."""
    functions = members = 0
    for statement in re.split(r";|\{\}", body):
        statement = re.sub(r"\b(public|private|protected):", "", statement).strip()
        if re.match(r"(using|friend|typedef|static_assert|enum|struct|class)\b|template\s*<[^>]*>\s*(struct|class|using)\b", statement):
            continue
        if "()" in statement and not re.match(r"[^()]*=", statement):
            functions += 1
        elif re.search(r"\w", statement) and "static" not in statement and not statement.startswith(":"):
            members += 1 if "<" in statement else statement.count(",") + 1
    return functions, members


classes, faults = 0, []
for path in sorted(path for folder in sys.argv[1:] for path in pathlib.Path(folder).rglob("*") if path.suffix in (".hpp", ".cpp")):
    text = code(path.read_text(errors="replace"))
    for found in re.finditer(r"\b(?:class|struct)\s+(?:\[\[.*?\]\]\s*|OVERDUB_\w+\s+)*([\w:]+)\s*(?:final\s*)?(?::[^{};()]*)?\{", text):
        functions, members = size(own_text(text, found.end()))
        classes += 1
        if functions > FUNCTIONS or members > MEMBERS:
            faults.append(f"{path}: {found[1]} has {functions} member functions and {members} data members; at most {FUNCTIONS} and "
                          f"{MEMBERS} can be read as a whole: find the parts that have one subject each")
print(*faults, sep="\n")
print(f"{classes} classes, {len(faults)} are too large")
sys.exit(len(faults) > 0 or classes < 500)
