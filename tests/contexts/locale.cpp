// Every text that overdub writes is the same under a locale with a decimal comma, and overdub reads every text there: programs, logs,
// tables, reports, traces, files of draws, and errors. locale_models.cpp tests the texts of models and incremental programs.
#include "comma_locale.hpp"
#include "inference/targets.hpp"

#include <overdub/check.hpp>
#include <overdub/compile/compile.hpp>
#include <overdub/contexts/check_finite.hpp>
#include <overdub/contexts/log.hpp>
#include <overdub/contexts/precision.hpp>
#include <overdub/contexts/profile.hpp>
#include <overdub/contexts/trace.hpp>
#include <overdub/execute/datum_text.hpp>
#include <overdub/inference.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/report.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <functional>
#include <iterator>
#include <locale>
#include <sstream>
#include <string>
#include <tuple>
#include <unistd.h>
#include <vector>

namespace {

namespace od = overdub;
namespace contexts = overdub::contexts;
namespace inference = overdub::inference;
namespace report = overdub::report;

template <class X>
std::string streamed(X const& x) {
  std::ostringstream out; // has the locale of the program
  out << x;
  return out.str();
}
template <class F>
std::string thrown(F const& f) {
  try {
    f();
  } catch (std::exception const& e) {
    return e.what();
  }
  return "";
}
std::string contents(std::string const& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

constexpr auto half = od::fn<"half">([](auto x) { return 0.5 * x; });
constexpr auto wave = od::fn<"wave">([](auto x) {
  auto const y = half(x);
  return od::sin(y) + 1234.5;
});

struct fake_clock {
  using time_point = std::chrono::time_point<fake_clock, std::chrono::nanoseconds>;
  using duration = std::chrono::nanoseconds;
  static inline time_point time{};
  static time_point now() { return time += std::chrono::nanoseconds(1'234'567); }
};

} // namespace

TEST_CASE("programs and data are printed and parsed as under the C locale") {
  check_in_comma_locale([] {
    texts all;
    od::ir::program const p = od::ir::parse(
        "func @f(%x: f64) -> f64 {\n  %a = mul %x, 1234567.25 : f64\n  %b = add %a, 1e-05 : f64\n  return "
        "%b\n}\n"
        "func @g() -> f32 {\n  return 0.1f32\n}\nfunc @h() -> i64 {\n  return 1234567\n}\n",
        {.file = "f.od"});
    all["program"] = od::ir::print(p);
    all["places"] = od::ir::print(p, {.places = true});
    all["fault"] = thrown([] { (void)od::ir::parse("func @f() -> f64 {\n  return 1,5\n}\n"); });
    od::datum const d = od::parse_datum("[[1.5, 2e300], [-0.25, 1234567.0]]");
    all["datum"] = streamed(d) + streamed(od::parse_datum("1234567"));
    all["staged"] = od::ir::print(od::stage(wave, od::signature<double>));
    return all;
  });
}

TEST_CASE("logs and tables of contexts are written as under the C locale") {
  check_in_comma_locale([] {
    texts all;
    for (bool const imbued : {false, true}) {
      std::ostringstream out;
      if (imbued) out.imbue(std::locale());
      out.precision(9);
      contexts::log log(out);
      od::run(log, wave, 1234.5);
      auto const tell = od::leaf<"tell">([](auto const&... x) { return sizeof...(x) * 1000; });
      od::run(
          log, od::fn<"told">([&](auto n) {
            return tell(
                n, 1234567, true, std::tuple(1.5f, 2000L), std::complex(1.5, 2.5), od::fill(5000, 0.125),
                std::string("text"));
          }),
          1000);
      all[imbued ? "log to an imbued stream" : "log"] = out.str();
    }
    contexts::profile_by<fake_clock> profile;
    for (int i = 0; i < 2000; ++i) od::run(profile, wave, 1.5);
    all["profile"] = streamed(profile);
    std::ostringstream folded;
    profile.write_folded(folded);
    all["folded"] = folded.str();
    contexts::precision precision(0.0);
    for (int i = 0; i < 2000; ++i) od::run(precision, wave, 0.1);
    all["precision"] = streamed(precision);
    all["check"] = streamed(od::check(od::ir::parse(
        "entry @main\nfunc @f(%x: f64, %n: i64) -> f64 {\n  %a = add %x, 0.5 : f64\n  %b = log %a : f64\n  "
        "return %b\n}\n"
        "func @main() -> f64 {\n  %y = call @f(-1234.75, 2000) : f64\n  return %y\n}\n",
        {.file = "m.od"})));
    all["check_finite"] = thrown([] {
      od::run(contexts::check_finite(), od::fn<"f">([](auto x) { return od::log(x - 1234.75); }), 0.5);
    });
    all["message"] = od::message("%g %.3f %e %lld", 1234.5, -0.25, 1e-300, 1234567LL).text;
    all["index"] = thrown([] { (void)od::at(od::fill(3000, 1.0), 123456); });
    return all;
  });
}

TEST_CASE("traces are written as under the C locale") {
  using namespace contexts::tracing;
  static constexpr callee_info wave_info{"wave", "function"};
  check_in_comma_locale([] {
    texts all;
    for (auto const& [name, format] :
         {std::pair("perfetto", contexts::trace_format::perfetto),
          std::pair("chrome", contexts::trace_format::chrome),
          std::pair("speedscope", contexts::trace_format::speedscope),
          std::pair("folded", contexts::trace_format::folded),
          std::pair("svg", contexts::trace_format::svg)}) {
      auto const value = [](std::uint64_t bits, value_type type, unsigned position) {
        return record{
            bits,
            position << 8 | static_cast<unsigned>(type) << 4 | static_cast<unsigned>(record_kind::value)};
      };
      auto const w = make_writer(format, {42000, "program", 1'000'000});
      w->thread({0, 42000, "main"});
      std::array const arguments{
          value(std::bit_cast<std::uint64_t>(1234.5), value_type::real, 0),
          value(static_cast<std::uint64_t>(-30000), value_type::integer, 1),
          value(7000, value_type::natural, 2), value(123456, value_type::elements, 3)};
      w->begin(0, 1'000'500, wave_info, arguments);
      w->begin(0, 2'345'678, wave_info, {});
      w->end(0, 3'000'250, false, nullptr);
      w->end(0, 4'000'500, true, nullptr);
      w->lost(0, 5'000'000, 12345);
      w->finish();
      all[name] = w->text();
    }
    return all;
  });
}

TEST_CASE("files of draws are written and read as under the C locale") {
  std::string const base = "/tmp/overdub_test_locale_" + std::to_string(::getpid());
  check_in_comma_locale([&] {
    texts all;
    auto const drawn = inference::sample(
        targets::standard_normal{2},
        {.chains = 2, .warmup = 200, .draws = 1500, .seed = 1, .threads = 1, .csv = base});
    auto const read = inference::read_csv({base + "_1.csv", base + "_2.csv"});
    all["file"] = contents(base + "_1.csv");
    all["file"].erase(all["file"].find("#  Elapsed")); // the time differs between runs
    inference::csv_file file = inference::read_csv(base + "_1.csv");
    file.chain.record(0).warmup_seconds = 1234.25;
    file.chain.record(0).sampling_seconds = 0.125;
    inference::write_csv(base + "_1.csv", file.chain, 0, file.settings);
    all["times"] = contents(base + "_1.csv").substr(all["file"].size());
    auto const times = inference::read_csv(base + "_1.csv").chain.record(0);
    CHECK((times.warmup_seconds == 1234.25 && times.sampling_seconds == 0.125));
    REQUIRE(read.size() == 3000);
    CHECK(std::ranges::equal(read.values(1, 1499), drawn.values(1, 1499)));
    inference::summary const s(read);
    all["summary"] = streamed(s);
    inference::draws poor({"x"}, 1);
    for (int i = 0; i < 2000; ++i)
      poor.append(0, {.log_density = -1.5, .divergent = true, .energy = 0.5})[0] = 0.001 * i;
    all["warnings"] = streamed(inference::summary(poor));
    std::remove((base + "_1.csv").c_str());
    std::remove((base + "_2.csv").c_str());

    std::FILE* const terminal = std::tmpfile();
    inference::progress_bar bar(terminal, true);
    bar(
        {.chain = 0,
         .done = 1,
         .all = 1,
         .warmup = false,
         .statistics = {.accept_statistic = 0.75, .divergent = true}});
    std::rewind(terminal);
    char line[200]{};
    (void)std::fread(line, 1, sizeof line - 1, terminal);
    std::fclose(terminal);
    std::string const shown = line;
    all["progress"] = shown.substr(0, shown.find('%')) + shown.substr(shown.find("acceptance"));
    return all;
  });
}

TEST_CASE("tables of calibration, and errors of inference, are written as under the C locale") {
  check_in_comma_locale([] {
    texts all;
    using key = od::random_key;
    auto const normal = [](key const& k) { return inference::mean_field({0}, {1}).draw(k)[0]; };
    auto const c = inference::simulation_based_calibration(
        [&](key const& k) { return std::vector{normal(k)}; },
        [&](std::vector<double> const& theta, key const& k) { return theta[0] + normal(k); },
        [&](double y, key const& k, std::size_t draws) {
          std::vector<std::vector<double>> drawn;
          for (std::size_t i = 0; i < draws; ++i) drawn.push_back({y / 2 + 0.5 * normal(k.at(i))});
          return drawn;
        },
        {.names = {"theta"}}, key(1));
    all["calibration"] = streamed(c);
    auto const t = inference::geweke_joint_test(
        [&](key const& k) { return normal(k); }, [](double& x, key const&) { x = 1234.5; },
        [](double&, key const&) {}, [](double x) { return std::vector{x}; },
        {.simulations = 1000, .iterations = 1000}, key(1));
    all["joint test"] = streamed(t);
    targets::standard_normal const target{1};
    all["step"] = thrown([&] { (void)inference::sample(target, {.step_size = -1234.5}); });
    all["radius"] = thrown([&] { (void)inference::sample(target, {.initial_radius = -0.5}); });
    all["metric"] = thrown([&] { (void)inference::sample(target, {.inverse_metric = {-1234.5}}); });
    struct undefined : targets::standard_normal {
      double operator()(std::span<double const> q, std::span<double> g) const {
        double const value = targets::standard_normal::operator()(q, g);
        return q[0] > 1 ? std::numeric_limits<double>::quiet_NaN() : value;
      }
    };
    all["undefined"] = inference::sample(undefined{{1}}, {.chains = 1, .draws = 300, .threads = 1})
                           .record(0)
                           .undefined_point;
    return all;
  });
}

TEST_CASE("reports are written as under the C locale") {
  check_in_comma_locale([] {
    texts all;
    inference::chain_values draws{{}, 2};
    for (int i = 0; i < 4000; ++i) draws.values.push_back(1234.5 + 0.001 * ((i * 7919) % 4001));
    report::section s("Numbers");
    s.add(report::posterior{"mu", draws});
    s.add(report::trace{"mu", draws});
    s.add(report::plot{
        .title = "p", .series = {{"s", report::mark::line, {0.5, 1000.5, 2000.25}, {0.125, 1e8, 3}}}});
    s.add(report::bars{
        .title = "b",
        .unit = "ms",
        .ways = {"a", "b"},
        .rows = {{"r", {1234.5, 0.125}}, {"q", {5e7, 2500}}}});
    s.add(report::graph{
        .title = "g", .nodes = {{"a", "a"}, {"b", "b"}, {"c", "c"}}, .edges = {{"a", "b"}, {"a", "c"}}});
    all["report"] = report::document("Numbers").add(s).html();
    std::string const path = "/tmp/overdub_test_locale_" + std::to_string(::getpid()) + ".html";
    report::document("Numbers").add(s).write(path);
    all["file"] = contents(path);
    std::remove(path.c_str());
    return all;
  });
}
