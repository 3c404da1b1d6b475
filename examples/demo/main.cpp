// The demo: fits three models to real data, and writes the results to one page, report.html.
//
//   demo [--length x] [the page's path]
//
// With --length 0.1 chains have a tenth of their length.
#include "demo.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string_view>

int main(int count, char** words) {
  demo::settings s;
  std::string path = "report.html";
  for (int k = 1; k < count; ++k) {
    if (std::string_view(words[k]) == "--length" && k + 1 < count) {
      s.length = std::strtod(words[++k], nullptr);
    } else if (words[k][0] != '-') {
      path = words[k];
    } else {
      std::printf(
          "usage: demo [--length x] [the page's path]\nWith --length 0.1 chains are a tenth as long.\n");
      return 2;
    }
  }
  try {
    auto const [page, seconds] = demo::timed([&] {
      demo::page to{
          .document = demo::report::document(
              "Three models of real data",
              "Each model is a C++ function that makes random choices. overdub makes programs of it: the "
              "density of its choices, the "
              "gradient, and an update program for each kind of change, which recomputes what the change "
              "affects.")};
      demo::fit_schools(s, to);
      demo::fit_eruptions(s, to);
      demo::fit_sleepers(s, to);
      demo::report::section made("What was made");
      made.say(
              "Programs are made when they are first needed, and kept. They ran as " +
              demo::how_programs_run() + ".")
          .add(to.programs);
      to.document.add(made);
      return to;
    });
    page.document.write(path);
    std::printf(
        "\n%s has all of it, with pictures (%.1f s in all)\n", std::filesystem::absolute(path).c_str(),
        seconds);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
