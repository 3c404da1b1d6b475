// Random functions of C, lifted, return what they return natively, by every executor: all in the interpreter, and a part by evaluate and as
// machine code, which takes most of a second for a function with objects.
#include "leaks.hpp"
#include "lift/executors.hpp"
#include "random_modules.hpp" // made by CMake

#include <random>
#include <string>
#include <vector>

TEST_CASE("random functions of C, lifted, return what they return natively") {
  std::mt19937 random(1);
  auto const real = [&] { return std::uniform_real_distribution<double>(-3, 3)(random); };
  auto const integer = [&] { return static_cast<int>(random() >> (random() % 30)) - 2; };
  for (random_module const& m : random_modules) {
    overdub::lift_result const lifted = overdub::lift_file(m.bitcode);
    for (overdub::refused_function const& f : lifted.refused) UNSCOPED_INFO(text_of(f));
    CHECK(lifted.refused.empty());
    for (int i = 0; i < random_module_size; ++i) {
      std::string const name = std::string(m.table) + "_" + std::to_string(i);
      if (!lifted.program.find(name)) continue;
      lifted::function run(lifted.program, name, i % 16 == 0);
      for (int input = 0; input < 4; ++input) {
        double const a = real(), b = real();
        int const k = integer();
        long const n = static_cast<long>(random() % 9);
        std::vector<double> x(8);
        std::vector<int> y(8);
        for (double& each : x) each = real();
        for (int& each : y) each = integer();
        std::vector<overdub::datum> arguments{overdub::datum(a), overdub::datum(b),   overdub::datum(k),
                                              overdub::datum(n), lifted::as_datum(x), lifted::as_datum(y)};
        std::vector<overdub::datum> results;
        {
          no_leaks const leaks; // the generator's functions may return without releasing what they allocate
          results.emplace_back(m.functions[i](a, b, k, n, x.data(), y.data()));
        }
        overdub::ir::function const& f = lifted.program[*lifted.program.find(name)];
        // An array that is not accessed has elements of type double; one that is not written is no result.
        if (f.type_of(f.argument(overdub::ir::function::body, 5)) != arguments[5].type())
          arguments[5] = overdub::datum(std::vector<double>(8));
        std::size_t const written = f.results.size() - 1;
        bool const writes_x = written > 0 && f.results[1] == overdub::ir::f64.array_of();
        if (writes_x) results.push_back(lifted::as_datum(x));
        if (written > (writes_x ? 1 : 0)) results.push_back(lifted::as_datum(y));
        run.check(arguments, results, input == 0 && i % 5 == 0);
      }
    }
  }
}
