// A context with members for every stage of a compilation and its own cache, which is made global.
#include <overdub/compile/scoped_global.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/overdub.hpp>

#include <bit>
#include <cstdio>
#include <set>
#include <stdexcept>

namespace od = overdub;
namespace ir = overdub::ir;
od::compilation_cache own_cache;

template <class Visit>
void each_power(ir::program& p, Visit const& visit) {
  for (std::uint32_t f = 0; f < p.functions.size(); ++f)
    for (ir::cursor c(p, ir::function_id{f}); c.next();)
      if (c.code() == ir::op::pow && c->is_literal(c.operand(1)))
        visit(c, std::bit_cast<double>(c->bits_of(c.operand(1))));
}
// Replaces squares by products, for the exponents in `wanted`, which is run-time data.
struct products : od::context {
  std::set<int> wanted;
  products(std::set<int> const& w) : wanted(w) {}
  std::set<int> const& fingerprint() const { return wanted; }

  auto enter(od::callee auto f) { // for each call: it leaves trusted code
    if constexpr (f.name() == "trusted") return od::leave;
    if constexpr (f.name() != "trusted") return *this;
  }
  static void after_inference(ir::program const& p) { // to analyse or reject the program
    if (p[p.entry].results.size() != 1) throw std::invalid_argument("one result, please");
  }
  static void before_optimise(ir::program& p, std::set<int> const& wanted) {
    each_power(p, [&](ir::cursor& c, double exponent) {
      if (exponent == 2.0 && wanted.contains(2)) c.replace(c.add(ir::op::mul, c.operand(0), c.operand(0)));
    });
  }
  static void after_optimise(ir::program& p) {
    int left = 0;
    each_power(p, [&](ir::cursor&, double) { ++left; });
    std::printf("remaining powers: %d\n", left);
  }
  static void options(od::compile_options& o) { o.cache = &own_cache; }
};

inline constexpr auto trusted = od::fn<"trusted">([](auto x) { return x + 1.0; });
inline constexpr auto polynomial =
    od::fn<"polynomial">([](auto x) { return pow(trusted(x), 2.0) + pow(x, 3.0); });

int main() {
  products none({}), squares({2});
  double const a = od::run(none, polynomial, 1.5), b = od::run(squares, polynomial, 1.5);
  auto const plain = od::compile(od::compose(), polynomial, od::signature<double>);
  od::scoped_global const everywhere(squares);
  double const global = plain(1.5); // products, too
  std::printf("%.4f %.4f %.4f\n", a, b, global);
  return a == b && global == b && own_cache.statistics().compilations == 3 ? 0 : 1;
}
