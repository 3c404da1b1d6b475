// Names are arbitrary bytes: the files of each format remain valid.
#include "catch.hpp"
#include "property.hpp"
#include "spans.hpp"

#include <overdub/call/utf8.hpp>
#include <overdub/contexts/profile.hpp>
#include <overdub/contexts/trace.hpp>
#include <overdub/overdub.hpp>

#include <array>
#include <cstdint>
#include <fstream>
#include <pthread.h>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace od = overdub;
namespace contexts = overdub::contexts;
namespace tracing = overdub::contexts::tracing;
using contexts::trace_format;

namespace {

// Difficult names: partial characters, overlong forms, surrogates, characters invalid in XML, quotes and line ends.
std::vector<std::string> const hard_names{
    "",
    "plain",
    "Berechnung-h\xc3\xb6\xc3", // truncated inside of a character, as the kernel does after 15 bytes
    "\xff\xfe",
    "\xc0\xaf",
    "\xe0\x80\xaf",
    "\xed\xa0\x80",
    "\xf4\x90\x80\x80",
    "\xf0\x9f\x98",
    "\x80",
    std::string("a\0b", 3),
    "\x01\x1f\x7f\xc2\x80",
    "\xef\xbf\xbe\xef\xbf\xbf",
    "<&>\"'\\;\n\r\t]]>",
    "\xf0\x9f\x98\x80 \xe2\x88\x91"};

std::string any_bytes() {
  auto const bytes = *rc::gen::container<std::vector<char>>(rc::gen::arbitrary<char>());
  return {bytes.begin(), bytes.end()};
}

std::string written(trace_format format, std::vector<std::string> const& names) {
  auto const w = tracing::make_writer(format, {42, names[0], 0});
  std::vector<tracing::callee_info> callees;
  for (std::string const& n : names) callees.push_back({n, n});
  for (std::uint32_t t = 0; t < names.size(); ++t) w->thread({t, 42 + t, names[t]});
  for (std::uint32_t t = 0; t < names.size(); ++t) {
    w->begin(t, 1'000, callees[t], {});
    w->end(t, 900'000, t % 2 == 0, nullptr);
    w->lost(t, 900'000, 3);
  }
  w->finish();
  return w->text();
}

// Parses files by their formats: strictly as UTF-8, and by Python's parsers.
std::string read_by_python(std::string const& file, std::string const& kind) {
  return spans::output_of(
      "python3 -c 'import json, sys, xml.etree.ElementTree as x\n"
      "b = open(sys.argv[1], \"rb\").read()\n"
      "t = b.decode(\"utf-8\")\n"
      "kind = sys.argv[2]\n"
      "if kind == \"json\": json.loads(t)\n"
      "if kind == \"xml\": x.fromstring(b)\n"
      "if kind == \"lines\":\n"
      "  for l in t[:-1].split(\"\\n\"): int(l.rpartition(\" \")[2])\n"
      "print(\"right\")' " +
      file + " " + kind);
}

} // namespace

TEST_CASE("traces of any names are valid files of their formats") {
  std::vector<std::string> names = hard_names;
  property([&] { names.push_back(any_bytes()); });
  for (auto const& [format, kind] : std::array<std::pair<trace_format, char const*>, 4>{
           {{trace_format::chrome, "json"},
            {trace_format::speedscope, "json"},
            {trace_format::svg, "xml"},
            {trace_format::folded, "lines"}}}) {
    spans::temporary_file const file("bytes");
    std::ofstream(file.path, std::ios::binary) << written(format, names);
    INFO(kind);
    CHECK(read_by_python(file.path, kind) == "right\n");
  }
}

TEST_CASE("UTF-8 text in JSON is preserved, also control characters") {
  std::string json;
  od::detail::append_json(json, "\x01\n\"\\ \xf0\x9f\x98\x80 \xc3\xb6\xc3");
  CHECK(json == "\"\\u0001\\u000a\\\"\\\\ \xf0\x9f\x98\x80 \xc3\xb6\xef\xbf\xbd\"");
}

TEST_CASE("strings of Perfetto's packets are UTF-8") {
  std::string const text = written(trace_format::perfetto, {"a\xc3", "b"});
  CHECK(text.find("a\xef\xbf\xbd") != std::string::npos);
  CHECK(text.find("a\xc3") == std::string::npos);
}

TEST_CASE("text for XML has only the characters of XML 1.0") {
  property([] {
    std::string const bytes = any_bytes();
    std::string text;
    od::detail::append_xml(text, bytes);
    std::size_t characters = 0;
    od::detail::for_each_character(text, [&](std::uint32_t point, std::string_view) {
      ++characters;
      RC_ASSERT(point >= 0x20 && !(point >= 0xD800 && point < 0xE000) && point != 0xFFFE && point != 0xFFFF);
      RC_ASSERT(point != '<' && point != '>' && point != '"' && point != '\'');
    });
    RC_ASSERT(od::detail::as_utf8(text) == text);
    RC_ASSERT(od::detail::as_utf8(od::detail::as_utf8(bytes)) == od::detail::as_utf8(bytes));
  });
}

TEST_CASE("the trace of a thread whose name the kernel truncated inside of a character is UTF-8") {
  static constexpr auto square = od::fn<"square">([](auto x) { return x * x; });
  contexts::recording spans_of;
  std::thread([] {
    pthread_setname_np(pthread_self(), "Berechnung-h\xc3\xb6\xc3");
    od::run(contexts::trace{}, square, 2.0);
  }).join();
  spans_of.stop();
  for (trace_format const format :
       {trace_format::chrome, trace_format::speedscope, trace_format::svg, trace_format::folded}) {
    std::string const text = spans_of.text(format);
    CHECK(od::detail::as_utf8(text) == text);
    CHECK(text.find("Berechnung-h\xc3\xb6\xef\xbf\xbd") != std::string::npos);
  }
}

TEST_CASE("the folded stacks of a profile are lines of UTF-8") {
  CHECK(contexts::folded_name("a;b\nc\xc3") == "a_b_c\xef\xbf\xbd");
}
