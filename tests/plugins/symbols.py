"""Symbols that the dynamic linker could merge between shared objects: symbols.py FILE... fails if a file exports a variable of overdub that
is written, contains addresses of functions or of other variables, or is compared by its own address. Constants may be merged, and virtual
tables and type information must be."""
import bisect
import re
import subprocess
import sys


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class shared_object:
    def __init__(self, path):
        self.sections = []  # address, end, name, flags, by number
        for line in output_of("readelf", "-SW", path).splitlines():
            s = re.match(r"\s*\[\s*\d+\]\s(\S*)\s+[A-Z]\S*\s+([0-9a-f]+)\s[0-9a-f]+\s([0-9a-f]+)\s\S\S(.{3})", line)
            if s:
                begin = int(s[2], 16)
                self.sections.append((begin, begin + int(s[3], 16), s[1], s[4]))
        # Relocations: the address that is written when the object is loaded, and the target or its name.
        self.relocations = []
        for line in output_of("readelf", "-rW", path).splitlines():
            r = re.match(r"([0-9a-f]{12,})\s+[0-9a-f]+\s+(R_\w+)\s+(.*)", line)
            if r:
                target = int(r[3], 16) if r[2].endswith("RELATIVE") else r[3]
                self.relocations.append((int(r[1], 16), target))
        self.relocations.sort(key=lambda r: r[0])

    def is_constant(self, address):
        return any(b <= address < e and not set(flags) & set("WX") for b, e, _, flags in self.sections)

    def has_other_addresses(self, begin, size):
        places = [r[0] for r in self.relocations]
        for _, target in self.relocations[bisect.bisect_left(places, begin):bisect.bisect_left(places, begin + size)]:
            if isinstance(target, str) or not self.is_constant(target):
                return True
        return False


def faults_of(path):
    object_ = shared_object(path)
    for line in output_of("readelf", "--dyn-syms", "-W", path).splitlines():
        w = line.split()
        if len(w) < 8 or w[3] not in ("OBJECT", "TLS") or not w[6].isdigit():
            continue
        address, size, name = int(w[1], 16), int(w[2], 0), w[7]
        if not re.match(r"_Z(GV)?Z?(TW)?(TH)?NK?7overdub", name) or re.match(r"_ZT[VTIS]", name):
            continue
        section = object_.sections[int(w[6])][2]
        is_written = section.startswith((".data", ".bss", ".tdata", ".tbss")) and not section.startswith(".data.rel.ro")
        if is_written or "8type_key" in name or object_.has_other_addresses(address, size):
            yield f"{path}: {w[3]} {w[4]} in {section}: {name}"


all_faults = [fault for path in sys.argv[1:] for fault in faults_of(path)]
print("\n".join(all_faults))
sys.exit(len(all_faults) > 0)
