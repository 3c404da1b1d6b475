// Runs code that writes and reads numbers under the "C" locale, and under a locale with a decimal comma and dots between thousands.
#pragma once

#include "catch.hpp"
#include "leaks.hpp"

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <locale>
#include <map>
#include <sstream>
#include <string>
#include <utility>

/// The German number format for all locales of a process: the C library's, that of new streams, and facets for existing streams. If the
/// system has no such locale, localedef makes one from Debian's package locales.
class comma_locale {
public:
  comma_locale() {
    no_leaks const here; // glibc keeps a list of the folders of LOCPATH
    if (std::setlocale(LC_ALL, name) == nullptr) {
      folder_ = "/tmp/overdub_test_locale_XXXXXX";
      REQUIRE(::mkdtemp(folder_.data()) != nullptr);
      std::string const make = "localedef -i de_DE -f UTF-8 " + folder_ + "/de_DE.utf8 >/dev/null 2>&1";
      INFO("there is no locale with a decimal comma: install localedef and its sources, Debian's package "
           "locales");
      REQUIRE(std::system(make.c_str()) == 0);
      REQUIRE(::setenv("LOCPATH", folder_.c_str(), 1) == 0);
      REQUIRE(std::setlocale(LC_ALL, name) != nullptr);
    }
    std::locale::global(std::locale(std::locale(name), new german));
    REQUIRE(std::setlocale(LC_ALL, name) != nullptr); // an unnamed locale leaves the C library's unchanged
  }
  ~comma_locale() {
    std::locale::global(std::locale::classic());
    std::setlocale(LC_ALL, "C");
    if (folder_.empty()) return;
    ::unsetenv("LOCPATH");
    std::filesystem::remove_all(folder_);
  }
  comma_locale(comma_locale const&) = delete;
  comma_locale& operator=(comma_locale const&) = delete;

private:
  struct german : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
    std::string do_truename() const override { return "wahr"; }
    std::string do_falsename() const override { return "falsch"; }
  };
  static constexpr char const* name = "de_DE.utf8";
  std::string folder_;
};

/// Texts, indexed by their writer.
using texts = std::map<std::string, std::string>;

/// Checks that f() writes the same texts under both locales.
template <class F>
void check_in_comma_locale(F const& f) {
  texts const plain = f();
  texts german;
  std::string proof;
  {
    comma_locale const here;
    char number[20];
    std::snprintf(number, sizeof number, "%.1f", 1.5);
    std::ostringstream stream;
    stream << 1234.5;
    proof = number + (' ' + stream.str());
    german = f();
  }
  CHECK(proof == "1,5 1.234,5"); // the German locale is active
  for (auto const& [what, text] : plain) {
    INFO(what);
    CHECK(german[what] == text);
    CHECK_FALSE(text.empty());
  }
  CHECK(german.size() == plain.size());
}
