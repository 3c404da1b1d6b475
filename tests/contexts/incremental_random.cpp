// Random programs: after any updates, commits and rollbacks a value is that of a run from the beginning.
// OVERDUB_PROGRAMS=1000000 takes more.
#include "catch.hpp"
#include "pass/laws.hpp"

#include <overdub/contexts/incremental/incremental_program.hpp>
#include <overdub/execute/datum_text.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/ir/print.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace overdub;

class updates {
public:
  explicit updates(std::uint64_t seed) : random_(seed) {}

  std::vector<datum> arguments() {
    std::vector<datum> all;
    all.emplace_back(static_cast<i64>(random_.below(3)));
    all.emplace_back(number());
    all.emplace_back(random_.chance(50));
    all.emplace_back(array<double>{number(), number(), number()});
    all.emplace_back(array<i64>{integer(), integer(), integer()});
    array<double> const a{number(), number(), number()}, b{number(), number(), number()};
    all.emplace_back(array<array<double>>{a, b, a});
    all.emplace_back(1.5f);
    return all;
  }
  // Changes an input or two, in the program and in the arguments.
  void change(contexts::incremental_program& p, std::vector<datum>& arguments) {
    std::uint64_t const count = 1 + random_.below(3);
    for (std::uint64_t k = 0; k < count; ++k) {
      auto const i = static_cast<std::uint32_t>(random_.below(arguments.size()));
      datum& d = arguments[i];
      if (d.type().rank == 0) {
        d = scalar(d.type());
        p.set(i, d);
        continue;
      }
      if (random_.chance(10)) {
        d = this->arguments()[i];
        p.set(i, d);
        continue;
      }
      datum const x = scalar({.element = d.type().element});
      std::vector<i64> path;
      for (i64 const extent : d.shape()) path.push_back(static_cast<i64>(random_.below(static_cast<std::uint64_t>(extent))));
      p.set_at(i, path, x.bits());
      i64 at = 0;
      for (std::size_t axis = 0; axis < path.size(); ++axis) at = at * d.shape()[axis] + path[axis];
      d = d.type().element == ir::scalar::f64 ? with<double>(d, at, x) : with<i64>(d, at, x);
    }
  }
  bool chance(unsigned percent) { return random_.chance(percent); }

private:
  double number() { return static_cast<double>(random_.below(64)) / 8 - 4 + random_.below(100) / 300.0; }
  i64 integer() { return static_cast<i64>(random_.below(5)) - 1; }
  datum scalar(ir::type t) {
    switch (t.element) {
    case ir::scalar::i64:
      return datum(integer());
    case ir::scalar::f64:
      return datum(number());
    case ir::scalar::f32:
      return datum(static_cast<float>(number()));
    default:
      return datum(random_.chance(50));
    }
  }
  template <class T>
  static datum with(datum const& d, i64 at, datum const& x) {
    std::vector<T> all(d.elements<T>().begin(), d.elements<T>().end());
    all[static_cast<std::size_t>(at)] = x.as<T>();
    return datum::of(d.shape(), array<T>::copy_of(all));
  }
  random_program::random_numbers random_;
};

bool is_close(double x, double y) {
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  return x == y || std::abs(x - y) <= 1e-9 * std::max({1.0, std::abs(x), std::abs(y)});
}
template <class T>
bool all_close(datum const& a, datum const& b) {
  auto const x = a.elements<T>(), y = b.elements<T>();
  for (i64 i = 0; i < x.size(); ++i)
    if (!is_close(static_cast<double>(x[i]), static_cast<double>(y[i]))) return false;
  return true;
}
bool are_close(datum const& a, datum const& b) {
  if (a == b) return true;
  if (a.type() != b.type() || a.shape() != b.shape()) return false;
  if (a.type() == ir::f64) return is_close(a.as<double>(), b.as<double>());
  if (a.type() == ir::f32) return std::abs(a.as<float>() - b.as<float>()) <= 1e-4f * std::abs(a.as<float>());
  if (a.type().element == ir::scalar::f64) return all_close<double>(a, b);
  return false;
}

std::optional<std::vector<datum>> results_of(executable const& f, std::vector<datum> const& arguments) {
  try {
    return f.run(arguments);
  } catch (error const&) {
    return {};
  }
}

struct verdict {
  std::string why; // empty: right
  bool was_refused = false;
};

verdict judge(ir::program const& p, std::uint64_t seed) {
  updates u(seed);
  std::vector<datum> now = u.arguments();
  executable const again(p);
  if (!results_of(again, now)) return {};
  std::unique_ptr<contexts::incremental_program> followed;
  try {
    followed = std::make_unique<contexts::incremental_program>(
        std::make_shared<contexts::incremental_slices>(p, compile_options()), now);
  } catch (contexts::incremental_error const&) {
    return {.was_refused = true};
  }
  for (int k = 0; k < 8; ++k) {
    std::vector<datum> next = now;
    u.change(*followed, next);
    auto const wanted = results_of(again, next);
    bool threw = false;
    try {
      followed->propose();
    } catch (error const&) {
      threw = true;
    }
    if (threw != !wanted) return {.why = threw ? "it throws" : "it does not throw"};
    if (threw || u.chance(40)) {
      followed->rollback();
    } else {
      followed->commit();
      now = next;
    }
    auto const is = results_of(again, now);
    for (std::size_t i = 0; i < is->size(); ++i)
      if (!are_close(followed->result(i), (*is)[i]))
        return {.why = "update " + std::to_string(k) + ": result " + std::to_string(i) + " is " + text_of(followed->result(i)) +
                       ", and from the beginning " + text_of((*is)[i])};
  }
  return {};
}

ir::program program_of(std::uint64_t seed) {
  random_program::options o = random_program::any_options(seed);
  o.effects = o.samples = o.function_values = o.carried_functions = false;
  return random_program::make(seed, o);
}

} // namespace

TEST_CASE("updates of random programs give what a run from the beginning gives") {
  char const* const asked = std::getenv("OVERDUB_PROGRAMS");
  std::uint64_t const count = asked == nullptr ? laws::seeds(2'000) : std::strtoull(asked, nullptr, 10);
  std::uint64_t refused = 0;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    ir::program const p = program_of(seed);
    verdict const v = judge(p, seed);
    refused += v.was_refused;
    if (v.why.empty()) continue;
    ir::program const small = laws::shrunk(p, [&](ir::program const& q) { return !judge(q, seed).why.empty(); });
    FAIL("random program " << seed << ": " << judge(small, seed).why << "\n" << ir::print(small));
  }
  CHECK(laws::is_rare(refused, count, 10));
}
