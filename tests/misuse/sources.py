"""The sources of this folder: which can be compiled as one, each in a namespace of its own."""
import os
import re

_ALONE = re.compile(r"^(#(define|undef|error)|#if(def|ndef)? (?!OVERDUB_MENDED)|BOOST_HANA_|template <>|namespace (overdub|std)\b)",
                    re.MULTILINE)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def name_of(path):
    return os.path.splitext(os.path.basename(path))[0]


def stands_alone(path):
    """Whether it cannot follow other sources: it defines macros, or specialises templates of other namespaces."""
    return _ALONE.search(read(path)) is not None


def as_one(paths):
    """One source of several: what they include first, and then each in a namespace."""
    includes, bodies = {}, ""
    for path in paths:
        includes.update(dict.fromkeys(re.findall(r"^#include .*$", read(path), re.MULTILINE)))
        bodies += f'namespace {name_of(path)} {{\n#include "{path}"\n}}\n'
    return "\n".join([*includes, bodies])
