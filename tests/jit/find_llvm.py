#!/usr/bin/env python3
"""The choice of the LLVM of overdub::jit, if several are installed, and the options that name or skip others.

usage: find_llvm.py <cmake> <generator> <compiler>

The LLVMs are folders with the files that overdub reads: a package of CMake, headers, and a library. find_llvm/ is the project that chooses one.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

CMAKE, GENERATOR, COMPILER = sys.argv[1:]
del sys.argv[1:]
PROJECT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "find_llvm")

CONFIG = """\
set(LLVM_PACKAGE_VERSION {version})
get_filename_component(prefix ${{CMAKE_CURRENT_LIST_DIR}}/../../.. ABSOLUTE)
set(LLVM_INCLUDE_DIRS ${{prefix}}/include)
add_library(LLVM SHARED IMPORTED)
set_target_properties(LLVM PROPERTIES IMPORTED_LOCATION ${{prefix}}/lib/libLLVM.so)
"""
# LLVM's own is compatible with its major and minor version alone.
CONFIG_VERSION = """\
set(PACKAGE_VERSION {version})
if(PACKAGE_FIND_VERSION_MAJOR EQUAL {major})
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
"""
HEADERS = {
    "Config/llvm-config.h": '#define LLVM_VERSION_STRING "{version}"\n#define LLVM_NATIVE_TARGET here\n',
    "MC/TargetRegistry.h": "#include <string>\nnamespace llvm {{ struct TargetRegistry {{\n"
                           "static void const* lookupTarget(std::string const&, std::string&); }}; }}\n",
    "Support/TargetSelect.h": "namespace llvm {{ bool InitializeNativeTarget(); }}\n",
    "Support/raw_ostream.h": "#include <cstddef>\n#include <cstdint>\nnamespace llvm {{ class raw_ostream {{ public:\n"
                             "virtual ~raw_ostream(); private: virtual void write_impl(char const*, std::size_t) = 0;\n"
                             "virtual std::uint64_t current_pos() const = 0; }}; }}\n",
}
LIBRARY = """\
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
void const* llvm::TargetRegistry::lookupTarget(std::string const&, std::string&) { return nullptr; }
bool llvm::InitializeNativeTarget() { return false; }
llvm::raw_ostream::~raw_ostream() = default;
"""


def read(path):
    with open(path) as file:
        return file.read()


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


class FindLLVM(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = os.path.realpath(cls.folder.name)
        cls.build = os.path.join(cls.root, "build")
        cls.shared = None
        for version in ["13.0.1", "14.0.6", "15.0.7", "16.0.6", "19.1.0", "19.1.7", "25.1.0"]:
            cls.install(version)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def prefix(cls, name):
        return os.path.join(cls.root, "llvm-" + name)

    @classmethod
    def package(cls, name):
        return os.path.join(cls.prefix(name), "lib", "cmake", "llvm")

    @classmethod
    def install(cls, version, name=None):
        """A new LLVM in a folder of its own, as good as installed."""
        prefix = cls.prefix(name or version)
        fields = {"version": version, "major": version.split(".")[0]}
        write(os.path.join(prefix, "lib/cmake/llvm/LLVMConfig.cmake"), CONFIG.format(**fields))
        write(os.path.join(prefix, "lib/cmake/llvm/LLVMConfigVersion.cmake"), CONFIG_VERSION.format(**fields))
        for header, text in HEADERS.items():
            write(os.path.join(prefix, "include/llvm", header), text.format(**fields))
        library = os.path.join(prefix, "lib/libLLVM.so")
        if cls.shared is None:
            source = os.path.join(cls.root, "library.cpp")
            write(source, LIBRARY)
            subprocess.run([COMPILER, "-shared", "-fPIC", "-I" + os.path.join(prefix, "include"), source, "-o", library], check=True)
            cls.shared = library
        else:
            shutil.copy(cls.shared, library)
        return prefix

    def configure(self, *options, installed=(), environment=None, fails=False):
        """What a new configuration says, where these are installed in this order of CMake's search."""
        return self.configure_again("--fresh", *options, "-D", "CMAKE_PREFIX_PATH=" + ";".join(map(self.prefix, installed)),
                                    environment=environment, fails=fails)

    def configure_again(self, *options, environment=None, fails=False):
        outer = {name: value for name, value in os.environ.items() if name not in ("LLVM_DIR", "LLVM_ROOT", "CMAKE_PREFIX_PATH")}
        result = subprocess.run(
            [CMAKE, "-S", PROJECT, "-B", self.build, "-G", GENERATOR, "-D", "CMAKE_CXX_COMPILER=" + COMPILER, *options],
            env={**outer, **(environment or {})}, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(result.returncode != 0, fails, result.stdout)
        return re.sub(r"\n +|  +", " ", result.stdout)  # CMake breaks the lines of errors

    def assert_chosen(self, name, output):
        expected = f"chosen: {name.split('-')[0]} {self.prefix(name)}/lib/libLLVM.so\n"
        self.assertIn(expected, output)

    def assert_none(self, output):
        self.assertIn("chosen: none\n", output)

    # ---- which is chosen

    def test_the_newest_supported_one_is_chosen_wherever_it_is_in_the_search(self):
        output = self.configure(installed=["16.0.6", "13.0.1", "19.1.0", "19.1.7", "14.0.6"])
        self.assert_chosen("19.1.7", output)
        self.assertNotIn("not used", output)
        self.assertIn("OVERDUB_LLVM_VERSION:INTERNAL=19.1.7\n", read(os.path.join(self.build, "CMakeCache.txt")))

    def test_of_equal_ones_the_first_of_the_search_is_chosen(self):
        self.install("19.1.7", "19.1.7-again")
        self.assert_chosen("19.1.7-again", self.configure(installed=["19.1.7-again", "19.1.7"]))
        self.assert_chosen("19.1.7", self.configure(installed=["19.1.7", "19.1.7-again"]))

    def test_a_newer_one_is_skipped_with_one_message(self):
        output = self.configure(installed=["25.1.0", "16.0.6"])
        self.assert_chosen("16.0.6", output)
        self.assertEqual(output.count("LLVM 25.1.0"), 1, output)
        self.assertIn(f"overdub: not used: LLVM 25.1.0 in {self.package('25.1.0')} is not supported.", output)

    def test_broken_ones_are_skipped_and_the_reasons_kept(self):
        for name in ["config", "header", "library", "version"]:
            self.install("19.1.7", name)
        write(os.path.join(self.package("config"), "LLVMConfig.cmake"), "message(FATAL_ERROR \"a file of it is missing\")\n")
        os.remove(os.path.join(self.prefix("header"), "include/llvm/Support/raw_ostream.h"))
        os.remove(os.path.join(self.prefix("library"), "lib/libLLVM.so"))
        os.remove(os.path.join(self.package("version"), "LLVMConfigVersion.cmake"))
        for name, reason in [("config", "a file of it is missing"), ("header", "raw_ostream.h"), ("library", "libLLVM.so")]:
            output = self.configure(installed=[name, "16.0.6"])
            self.assert_chosen("16.0.6", output)
            problem = re.search(rf"not used: LLVM 19.1.7 in {self.package(name)} does not work: see (\S+/problem.txt)\.", output)
            self.assertTrue(problem, output)
            self.assertIn(reason, read(problem[1]))
        output = self.configure(installed=["version", "16.0.6"])
        self.assert_chosen("16.0.6", output)

    # ---- how another is named

    def test_LLVM_DIR_and_LLVM_ROOT_name_one_as_variables_and_in_the_environment(self):
        for variable, value in [("LLVM_DIR", self.package("16.0.6")), ("LLVM_ROOT", self.prefix("16.0.6"))]:
            self.assert_chosen("16.0.6", self.configure("-D", f"{variable}={value}", installed=["19.1.7"]))
            self.assert_chosen("16.0.6", self.configure(installed=["19.1.7"], environment={variable: value}))
        output = self.configure("-D", "LLVM_DIR=" + self.package("15.0.7"), environment={"LLVM_DIR": self.package("16.0.6")})
        self.assert_chosen("15.0.7", output)

    def test_one_that_is_named_and_is_not_supported_is_skipped_with_a_sentence(self):
        for version in ["13.0.1", "25.1.0"]:
            output = self.configure("-D", "LLVM_DIR=" + self.package(version), installed=["19.1.7"])
            self.assert_none(output)
            self.assertRegex(output, rf"overdub: overdub::jit is not built: LLVM {version} in {self.package(version)} is not supported; "
                                     rf"LLVM_DIR or LLVM_ROOT names {self.package(version)}\. Supported is LLVM \d+ to \d+\.")
        output = self.configure("-D", f"LLVM_DIR={self.root}/nowhere", installed=["19.1.7"])
        self.assert_none(output)
        self.assertIn(f"{self.root}/nowhere, which LLVM_DIR or LLVM_ROOT names, has no LLVMConfig.cmake.", output)

    def test_the_LLVM_of_a_project_around_is_not_taken_for_a_named_one(self):
        for other in ["16.0.6", "14.0.6"]:
            self.assert_chosen("19.1.7", self.configure("-D", "other=" + self.package(other), installed=["19.1.7", other]))
            self.assert_chosen("19.1.7", self.configure_again())
            self.assert_chosen("15.0.7", self.configure_again("-D", "LLVM_DIR=" + self.package("15.0.7"), "-D", "other="))
            self.assert_chosen("15.0.7", self.configure_again())

    def test_the_environment_is_asked_in_each_configuration_and_remembered(self):
        environment = {"LLVM_DIR": self.package("15.0.7")}
        self.assert_chosen("15.0.7", self.configure(installed=["19.1.7"], environment=environment))
        self.assert_chosen("16.0.6", self.configure_again(environment={"LLVM_ROOT": self.prefix("16.0.6")}))
        self.assert_chosen("16.0.6", self.configure_again())

    # ---- without one

    def test_without_a_supported_one_the_rest_is_built(self):
        self.assertIn("overdub: overdub::jit is not built: none is installed.", self.configure())
        output = self.configure(installed=["13.0.1", "25.1.0"])
        self.assert_none(output)
        self.assertEqual(output.count("-- overdub: "), 1, output)
        self.assertRegex(output, r"LLVM 25.1.0 in \S+ is not supported; LLVM 13.0.1 in \S+ is not supported\.")

    def test_OVERDUB_JIT_as_ON_needs_one(self):
        output = self.configure("-D", "OVERDUB_JIT=ON", installed=["13.0.1"], fails=True)
        self.assertRegex(output, rf"OVERDUB_JIT is ON, and no LLVM can be used: LLVM 13.0.1 in {self.package('13.0.1')} is not supported\. "
                                 r"Supported is LLVM \d+ to \d+\. Install one of them, set LLVM_DIR")
        self.assert_chosen("16.0.6", self.configure("-D", "OVERDUB_JIT=ON", installed=["13.0.1", "16.0.6"]))

    def test_OVERDUB_JIT_as_OFF_looks_for_none(self):
        output = self.configure("-D", "OVERDUB_JIT=OFF", installed=["19.1.7", "25.1.0"])
        self.assert_none(output)
        self.assertNotIn("-- overdub: ", output)

    # ---- again

    def test_the_choice_is_made_anew_in_each_configuration(self):
        self.assert_none(self.configure())
        self.assert_chosen("16.0.6", self.configure_again("-D", "CMAKE_PREFIX_PATH=" + self.prefix("16.0.6")))
        both = f"CMAKE_PREFIX_PATH={self.prefix('16.0.6')};{self.prefix('19.1.7')}"
        self.assert_chosen("19.1.7", self.configure_again("-D", both))
        self.assert_chosen("19.1.7", self.configure_again())
        self.assert_none(self.configure_again("-D", "CMAKE_PREFIX_PATH="))

    def test_one_that_is_named_is_kept(self):
        self.assert_chosen("16.0.6", self.configure("-D", "LLVM_DIR=" + self.package("16.0.6"), installed=["19.1.7"]))
        self.assert_chosen("16.0.6", self.configure_again())
        self.configure(installed=["19.1.7"], environment={"LLVM_DIR": self.package("16.0.6")})
        self.assert_chosen("16.0.6", self.configure_again())  # as where the build system does it


if __name__ == "__main__":
    unittest.main()
