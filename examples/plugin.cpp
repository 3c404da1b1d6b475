// A context that plugs into every stage of a compilation: it chooses which calls it enters, looks at the program when its types
// are known, rewrites it before and after optimisation, brings an executor and a cache of its own, and is made global.
#include <overdub/compile/scoped_global.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/overdub.hpp>

#include <cmath>
#include <cstdio>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>

namespace od = overdub;
namespace ir = overdub::ir;

// An executor: the interpreter, which counts what it is given.
struct counting_executor final : od::executor {
  std::string const& name() const override { return name_; }
  std::shared_ptr<od::execute::code const> prepare(ir::program const& p) const override {
    ++prepared;
    return od::executable(p).code();
  }
  static inline int prepared = 0;
  std::string name_ = "counting";
};
od::compilation_cache own_cache;

template <class Visit>
void each_operation(ir::program& p, Visit const& visit) {
  for (std::uint32_t f = 0; f < p.functions.size(); ++f)
    for (ir::cursor c(p, ir::function_id{f}); c.next();) visit(c);
}

// Products of equal factors become squares by a table; which powers are looked at is known at run time.
struct strength : od::context {
  std::set<int> wanted; // exponents that become products

  std::set<int> const& fingerprint() const { return wanted; }
  explicit strength(std::set<int> const& w = {}) : wanted(w) {}

  auto enter(od::callee auto f) { // per call edge: trusted code is left as it is
    if constexpr (f.name() == "trusted")
      return od::leave;
    else
      return *this;
  }
  static void after_inference(ir::program const& p) { // types are known, nothing is rewritten yet
    if (p[p.entry].results.size() != 1) throw std::invalid_argument("one result, please");
  }
  static void before_optimise(ir::program& p, std::set<int> const& wanted) {
    each_operation(p, [&](ir::cursor& c) {
      if (c.code() != ir::op::pow || !c->is_literal(c.operand(1))) return;
      double const exponent = std::bit_cast<double>(c->bits_of(c.operand(1)));
      if (exponent == 2.0 && wanted.contains(2)) c.replace(c.add(ir::op::mul, c.operand(0), c.operand(0)));
    });
  }
  static void after_optimise(ir::program& p) {
    int powers = 0;
    each_operation(p, [&](ir::cursor& c) { powers += c.code() == ir::op::pow ? 1 : 0; });
    std::printf("%d powers are left\n", powers);
  }
  static void options(od::compile_options& o) {
    o.cache = &own_cache;
    o.executor = std::make_shared<counting_executor const>();
    o.tiers = od::tiers::compile_now;
  }
};

inline constexpr auto trusted = od::fn<"trusted">([](auto x) { return x + 1.0; });
inline constexpr auto polynomial =
    od::fn<"polynomial">([](auto x) { return pow(trusted(x), 2.0) + pow(x, 3.0); });

int main() {
  double const x = 1.5;
  strength none, squares({2});
  double const a = od::run(none, polynomial, x), b = od::run(squares, polynomial, x),
               c = od::run(squares, polynomial, x);
  auto const plain = od::compile(od::compose(), polynomial, od::signature<double>);
  double d = 0;
  {
    od::scoped_global const everywhere(squares);
    d = plain(x);
  }
  auto const s = own_cache.statistics();
  std::printf("%.4f %.4f %.4f %.4f: %d compilations\n", a, b, c, d, static_cast<int>(s.compilations));
  bool const right =
      std::abs(a - b) < 1e-12 && b == c && b == d && s.compilations == 3 && counting_executor::prepared == 3;
  return right ? 0 : 1;
}
