// Random models: nested plates, chains and branches, also in functions that are called by within.
#pragma once

#include "incremental/updates.hpp"
#include "models/example_models.hpp"

#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/ir/verify.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace random_models {

namespace od = overdub;
namespace ms = overdub::models;
namespace ds = overdub::distributions;
using od::i64;
using random_program::random_numbers;

// Whose program has the functions of the distributions that random models have.
inline constexpr auto all_used =
    od::fn<"all_used">([](od::scope auto& cx, auto mean, auto scale, auto chance) {
      (void)cx(od::sample<"a">, ds::normal(mean, scale));
      (void)cx(od::sample<"b">, ds::exponential(scale));
      (void)cx(od::sample<"c">, ds::bernoulli(chance));
      (void)cx(od::sample<"d">, ds::poisson(scale));
    });

/// The program of a model, by its seed.
class random_model {
public:
  explicit random_model(std::uint64_t seed, bool has_branches = true)
      : random_(seed), has_branches_(has_branches) {}

  // @main(%n, %m, %s, %x, %b); %x has at least as many elements as a plate has iterations.
  od::ir::program make() {
    if (random_.chance(50)) add_part();
    text_ = "func @main(%n: i64, %m: i64, %s: f64, %x: f64[], %b: bool) -> (f64, f64) {\n";
    nesting_ = {};
    scope s{{"%s"}, {"%b"}};
    block(s, 5);
    line("return " + any(s.numbers) + ", " + s.numbers.back() + "\n}");
    static od::ir::program const from = ms::model(all_used, 0.0, 1.0, 0.5).core()->program();
    static std::string const functions = [] {
      std::string all = od::ir::print(from);
      std::size_t const own = all.find("func @all_used");
      all.erase(own, all.find("\n}\n", own) + 3 - own);
      return all.substr(all.find("\n\n"));
    }();
    od::ir::program p = od::ir::parse("entry @main\n\n" + text_ + "\n" + part_ + functions);
    od::ir::verify(p);
    for (od::ir::host_binding h : from.hosts) {
      h.name = p.intern(from.text(h.name));
      p.hosts.push_back(h);
    }
    return p;
  }

private:
  struct scope {
    std::vector<std::string> numbers, bools;
  };
  struct nesting {
    std::string indices; // of the enclosing maps and loops
    int loops = 0;
    bool has_rows_of_one_size =
        true; // not in a branch in a map: a map or loop there would make rows of different sizes
  };

  void line(std::string const& l) { text_ += l + "\n"; }
  std::string name() { return "%v" + std::to_string(next_++); }
  std::string any(std::vector<std::string> const& all) { return all[random_.below(all.size())]; }
  std::string operation(std::string const& what, std::string const& type = "f64") {
    std::string const v = name();
    line(v + " = " + what + " : " + type);
    return v;
  }
  // A number in (-1, 1), a positive number, and a probability.
  std::string bounded(scope const& s) {
    return operation("sin " + operation("add " + any(s.numbers) + ", " + any(s.numbers)));
  }
  std::string positive(scope const& s) { return operation("exp " + bounded(s)); }
  std::string chance(scope const& s) { return operation("add 0.5, " + operation("mul 0.25, " + bounded(s))); }

  std::string sample(std::string const& address, std::string const& distribution, char const* type) {
    return operation(
        "sample \"" + address + '"' + (nesting_.indices.empty() ? "" : "[" + nesting_.indices + "]") +
            distribution,
        type);
  }
  std::string address() { return prefix_ + std::to_string(addresses_++); }
  std::string normal(scope const& s, std::string const& address) {
    return sample(address, " \"normal\"(" + any(s.numbers) + ", " + positive(s) + ")", "f64");
  }
  void choose(scope& s) {
    switch (random_.below(5)) {
    case 0:
      s.numbers.push_back(sample(address(), " \"exponential\"(" + positive(s) + ")", "f64"));
      break;
    case 1:
      s.bools.push_back(sample(address(), " \"bernoulli\"(" + chance(s) + ")", "bool"));
      break;
    case 2:
      s.numbers.push_back(
          operation("convert " + sample(address(), " \"poisson\"(" + positive(s) + ")", "i64")));
      break;
    default:
      s.numbers.push_back(normal(s, address()));
    }
  }

  void block(scope& s, std::size_t maximum) {
    for (std::size_t count = 1 + random_.below(maximum); count > 0; --count) switch (random_.below(8)) {
      case 0:
      case 1:
        if (nesting_.loops < 3 && nesting_.has_rows_of_one_size) map_or_loop(s);
        break;
      case 2:
        if (nesting_.loops < 3 && nesting_.has_rows_of_one_size && !part_.empty()) call(s);
        break;
      case 3:
        if (has_branches_) branch(s);
        break;
      case 4:
        s.numbers.push_back(bounded(s));
        break;
      default:
        choose(s);
      }
  }
  template <class F>
  void nest(nesting const& p, F const& f) {
    nesting const before = std::exchange(nesting_, p);
    f();
    nesting_ = before;
  }
  void map_or_loop(scope& s) {
    bool const is_map = random_.chance(60);
    std::string const all = name(), index = name(), last = name(), state = name();
    std::string const count = random_.chance(70) ? "%n" : "%m";
    line(
        is_map ? all + " = map " + count + " (" + index + ": i64) -> f64 {"
               : last + ", " + all + " = loop " + (random_.chance(40) ? "reversed " : "") + count + " (" +
                     index + ": i64, " + state + ": f64 = " + any(s.numbers) + ") -> f64 stack f64 {");
    nest({nesting_.indices + (nesting_.loops > 0 ? ", " : "") + index, nesting_.loops + 1, true}, [&] {
      scope own = s;
      if (!is_map) own.numbers.push_back(state);
      own.numbers.push_back(operation("at %x, " + index));
      block(own, 3);
      line("yield " + (is_map ? bounded(own) : bounded(own) + ", " + any(own.numbers)) + "\n}");
    });
    s.numbers.push_back(operation("reduce add " + all + " from 0.0"));
    if (!is_map) s.numbers.push_back(last);
  }
  void branch(scope& s) {
    std::string const made = name();
    std::string const shared = random_.chance(50) ? address() : "";
    line(made + " = if " + any(s.bools) + " -> f64 {");
    for (int side = 0; side < 2; ++side) {
      nest({nesting_.indices, nesting_.loops, nesting_.loops == 0 && prefix_ != "p"}, [&] {
        scope own = s;
        if (!shared.empty()) own.numbers.push_back(normal(own, shared));
        if (random_.chance(70)) block(own, 2);
        line("yield " + any(own.numbers));
      });
      line(side == 0 ? "} else {" : "}");
    }
    s.numbers.push_back(made);
  }
  // A function that makes choices; it is called once, by within.
  void add_part() {
    prefix_ = "p";
    text_ = "func @\"part/\"(%n: i64, %m: i64, %s: f64, %x: f64[], %b: bool) -> f64 {\n";
    scope s{{"%s"}, {"%b"}};
    nesting_ = {"", 1, true};
    nesting const none{"", 0, true};
    nest(none, [&] { block(s, 3); });
    line("return " + any(s.numbers) + "\n}");
    part_ = std::exchange(text_, "");
    prefix_ = "c";
  }
  void call(scope& s) {
    if (std::exchange(is_called_, true)) return;
    s.numbers.push_back(operation("call @\"part/\"(%n, %m, " + bounded(s) + ", %x, " + any(s.bools) + ")"));
  }

  random_numbers random_;
  bool has_branches_;
  std::string text_, part_, prefix_ = "c";
  nesting nesting_;
  bool is_called_ = false;
  int next_ = 0, addresses_ = 0;
};

/// Arguments of a random model.
inline std::vector<od::datum> arguments(random_numbers& random) {
  std::vector<double> x;
  for (int i = 0; i < 4; ++i) x.push_back(static_cast<double>(random.below(64)) / 16 - 2);
  return {
      static_cast<i64>(random.below(5)), static_cast<i64>(random.below(4)),
      static_cast<double>(random.below(64)) / 16 - 2, od::array<double>::copy_of(x), random.chance(50)};
}

} // namespace random_models
