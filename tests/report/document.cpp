// Pages: one self-contained file, in which text is always escaped.
#include "catch.hpp"

#include <overdub/report.hpp>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

namespace {

namespace report = overdub::report;

constexpr auto hostile =
    "</title></svg></style><script>alert(1)</script><img src=http://x.org/ onerror='x()'>\"&amp;\x01\xff";

std::string everything(std::string const& text) {
  report::section s(text);
  s.say(text)
      .add(report::table{text, {text}, {{text}}, text})
      .add(report::intervals{text, text, {{text, 1, 2, 3, 2}}})
      .add(report::bars{text, text, {text, text}, {{text, {1, 2}}}, report::share::half, text})
      .add(report::plot{
          .title = text,
          .x = text,
          .y = text,
          .series = {{text, report::mark::line, {1, 2}, {1, 2}}, {text}},
          .note = text})
      .add(report::posterior{text, {{1, 2, 3.5}, 1}})
      .add(report::trace{text, {{1, 2, 3.5}, 1}})
      .add(report::graph{
          text, {{text, text, true}, {"n", "n"}}, {{text, "n"}}, report::direction::down, text});
  return report::document(text, text).add(s).add(report::section(text)).html();
}

TEST_CASE("no text becomes markup") {
  // The tags of a page do not depend on its text.
  std::regex const tag("<[a-zA-Z/!][^>]*>");
  auto const tags = [&](std::string const& page) {
    std::string all;
    for (std::sregex_iterator t(page.begin(), page.end(), tag), end; t != end; ++t) {
      std::string const found = t->str();
      all += found.substr(0, found.find_first_of(" >")) + "\n";
    }
    return all;
  };
  std::string const page = everything(hostile);
  CHECK(tags(page) == tags(everything("plain")));
  CHECK(page.find("<script") == std::string::npos);
  CHECK(page.find("<img") == std::string::npos);
  CHECK(page.find('\x01') == std::string::npos);
  CHECK(page.find('\xff') == std::string::npos);
}

TEST_CASE("a page has no external references, and forbids the browser to load any") {
  std::string const page = everything("plain");
  CHECK(page.find("://") == std::string::npos);
  CHECK(page.find("src=") == std::string::npos);
  CHECK(page.find("url(") == std::string::npos);
  CHECK(page.find("@import") == std::string::npos);
  CHECK(
      page.find("Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"") !=
      std::string::npos);
}

TEST_CASE("a page has its title, its sections, and links to them if there are several") {
  report::document page("Fits", "Of three models");
  page.add(report::section("One").say("First."));
  CHECK(page.html().find("<nav>") == std::string::npos);
  page.add(report::section("Two"));
  std::string const html = page.html();
  CHECK(html.starts_with("<!DOCTYPE html>"));
  for (auto const* part :
       {"<title>Fits</title>", "<h1>Fits</h1>", "<p class=\"lead\">Of three models</p>", "<p>First.</p>",
        "<a href=\"#section-2\">Two</a>", "<section id=\"section-2\">\n<h2>Two</h2>"}) {
    CAPTURE(part);
    CHECK(html.find(part) != std::string::npos);
  }
}

TEST_CASE("a custom block is anything with html()") {
  struct rule {
    std::string html() const { return "<hr>\n"; }
  };
  CHECK(report::section("s").add(rule()).html("s").find("<hr>") != std::string::npos);
  STATIC_REQUIRE_FALSE(report::block<std::string>);
}

TEST_CASE("a page is written completely, also over another one, or an error has the reason") {
  std::string const path = "/tmp/overdub_test_" + std::to_string(::getpid()) + "_report.html";
  report::document page("Fits");
  for (int i = 0; i < 2; ++i) {
    page.write(path);
    std::ostringstream written;
    written << std::ifstream(path, std::ios::binary).rdbuf();
    CHECK(written.str() == page.html());
  }
  std::remove(path.c_str());
  CHECK_THROWS_WITH(
      page.write("/nowhere/report.html"),
      "overdub: the report cannot be written to /nowhere/report.html: No such file or directory");
  CHECK_THROWS_WITH(
      page.write("/dev/full"), "overdub: the report cannot be written to /dev/full: No space left on device");
}

TEST_CASE("a page that cannot be written leaves the old file unchanged") {
  std::string const path = "/tmp/overdub_test_" + std::to_string(::getpid()) + "_kept.html";
  std::ofstream(path) << "old";
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  auto const handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit const small{.rlim_cur = 1000, .rlim_max = before.rlim_max}; // as if the disk were full
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  std::string why;
  try {
    report::document("Fits").write(path);
  } catch (report::report_error const& e) {
    why = e.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(why == "overdub: the report cannot be written to " + path + ": File too large");
  std::string kept;
  std::ifstream(path) >> kept;
  CHECK(kept == "old");
  std::remove(path.c_str());
}

} // namespace
