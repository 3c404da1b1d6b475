#include <overdub/core/floating_point.hpp>
#include <overdub/execute/datum_text.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/forward_program.hpp>
#include <overdub/implementation/test_derivative/numbers.hpp>
#include <overdub/reverse/gradient_program.hpp>
#include <overdub/test_derivative/oracle.hpp>

#include <cstdint>
#include <exception>
#include <optional>
#include <random>
#include <string>
#include <utility>

namespace overdub::oracle {

inline vector random_vector(std::size_t size, std::mt19937_64& random) {
  vector all;
  for (std::size_t i = 0; i < size; ++i)
    all.push_back(static_cast<double>(random() % 2001) / 1000.0 - 1.0 + 0.0003);
  return all;
}

leaf_list cotangent_like(leaf_list const& results, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  return with_numbers(results, random_vector(numbers_of(results).size(), random));
}

// The leaves, each followed by its tangent if it has one; `every_other` returns the tangents of such a list.
inline leaf_list with_tangents(leaf_list const& x, leaf_list const& along) {
  leaf_list all;
  for (std::size_t i = 0; i < x.size(); ++i) {
    all.push_back(x[i]);
    if (ir::is_differentiable(x[i].type())) all.push_back(along[i]);
  }
  return all;
}
inline leaf_list every_other(leaf_list const& all) {
  leaf_list tangents;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (ir::is_differentiable(all[i].type())) tangents.push_back(all[++i]);
  return tangents;
}

class checker {
public:
  checker(subject const& s, derivative_test const& how) : s_(s), how_(how), random_(how.seed) {
    for (datum const& d : s.inputs) has_floats_ = has_floats_ || d.type().element == ir::scalar::f32;
  }

  derivative_report run() {
    guarded("the function", [&] { values(); });
    if (!report_.failures.empty()) return std::move(report_);
    guarded("forward", [&] { forward_.emplace(forward_of(s_.program)); });
    guarded("reverse", [&] {
      ir::program p = s_.program;
      transpose_entry(p);
      reverse_.emplace(p);
      guarded("forward over reverse", [&] { forward_over_reverse_.emplace(forward_of(p)); });
    });
    if (forward_)
      guarded("reverse over forward", [&] {
        ir::program p = forward_of(s_.program);
        transpose_entry(p);
        reverse_over_forward_.emplace(p);
      });
    std::size_t const numbers = numbers_of(s_.inputs).size();
    std::size_t const alone = std::min(numbers, static_cast<std::size_t>(std::max(how_.directions, 0)));
    for (std::size_t i = 0; i < alone; ++i) {
      std::size_t const number = numbers <= alone ? i : static_cast<std::size_t>(random_() % numbers);
      vector unit(numbers);
      unit[number] = 1;
      direction("by input " + place_of(s_.inputs, number), unit);
    }
    for (int i = 0; i < 2 && numbers > 0; ++i)
      direction("along a direction in all inputs", random_vector(numbers, random_));
    return std::move(report_);
  }

private:
  template <class Run>
  void guarded(std::string const& what, Run const& run) {
    try {
      run();
    } catch (std::exception const& e) {
      fail(what + " throws: " + e.what());
    }
  }
  void fail(std::string text) {
    constexpr std::size_t most = 20;
    if (report_.failures.size() < most) report_.failures.push_back(std::move(text));
  }
  static std::string text_of(double x) { return overdub::text_of(datum(x)); }

  // The tolerance for values that are equal up to rounding.
  double rounding() const { return has_floats_ ? 1e-4 : 1e-9; }
  double tolerance() const { return has_floats_ ? std::max(how_.tolerance, 1e-2) : how_.tolerance; }
  static bool are_close(double a, double b, double most) {
    return a == b || (overdub::is_nan(a) && overdub::is_nan(b)) || std::abs(a - b) <= most;
  }
  void compare(
      std::string const& what, vector const& came, vector const& expected, std::string const& by,
      leaf_list const& like) {
    if (came.size() != expected.size())
      return fail(
          what + ": there are " + std::to_string(came.size()) + " numbers, and " + by + " has " +
          std::to_string(expected.size()));
    for (std::size_t i = 0; i < came.size(); ++i) {
      ++report_.checks;
      double const scale = std::max({1.0, std::abs(came[i]), std::abs(expected[i])});
      if (!are_close(came[i], expected[i], rounding() * scale))
        fail(
            what + ": result " + place_of(like, i) + ": it is " + text_of(came[i]) + ", and " + by + " " +
            text_of(expected[i]));
    }
  }
  void compare_estimates(
      std::string const& what, vector const& came, std::vector<estimate> const& expected,
      leaf_list const& like) {
    for (std::size_t i = 0; i < came.size() && i < expected.size(); ++i) {
      ++report_.checks;
      estimate const& e = expected[i];
      double const scale = std::max({1.0, std::abs(came[i]), std::abs(e.value)});
      if (!(e.error <= 1e3 * tolerance() * scale))
        fail(
            what + ": result " + place_of(like, i) +
            ": differences do not tend to a derivative, as at a kink or a jump; it is " + text_of(came[i]) +
            ". Test it against a reference");
      else if (!are_close(came[i], e.value, tolerance() * scale + 4 * e.error))
        fail(
            what + ": result " + place_of(like, i) + ": it is " + text_of(came[i]) + ", and by differences " +
            text_of(e.value) + " (up to " + text_of(e.error) + ")");
    }
  }

  void values() {
    results_ = s_.value(s_.inputs);
    ++report_.checks;
    if (executable(s_.program).run(s_.inputs) != results_)
      fail("the function's program returns another result than the function");
    ++report_.checks;
    if (s_.value(s_.inputs) != results_) fail("a second call of the function returns another result");
  }

  void direction(std::string const& what, vector const& d) {
    leaf_list const along = with_numbers(s_.inputs, d);
    vector tangents;
    bool has_tangents = false;
    guarded("forward " + what, [&] {
      tangents = numbers_of(s_.tangents(s_.inputs, along));
      has_tangents = true;
      if (s_.reference)
        compare(
            "forward " + what, tangents, numbers_of(s_.reference(s_.inputs, along)), "by the reference",
            results_);
      else
        compare_estimates("forward " + what, tangents, differences_of_values(d), results_);
      ++report_.checks;
      if (s_.tangents(s_.inputs, along) != s_.tangents(s_.inputs, along))
        fail("forward " + what + ": a second call returns another result");
      if (forward_)
        compare("the program in forward " + what, in_program(along), tangents, "forward", results_);
    });
    if (!has_tangents || !reverse_) return;
    leaf_list const cotangent = with_numbers(results_, random_vector(tangents.size(), random_));
    guarded("reverse " + what, [&] { transposed(what, d, cotangent, tangents); });
    guarded("nested " + what, [&] { nested(what, d, cotangent); });
  }
  std::vector<estimate> differences_of_values(vector const& d) const {
    return differences([&](double t) { return numbers_of(s_.value(moved(d, t))); }, first_step(d));
  }
  static double first_step(vector const& d) {
    double largest = 0;
    for (double const x : d) largest = std::max(largest, std::abs(x));
    return 0.05 / std::max(largest, 1e-3);
  }
  leaf_list moved(vector const& d, double t) const {
    vector x = numbers_of(s_.inputs);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += t * d[i];
    return with_numbers(s_.inputs, x);
  }
  vector in_program(leaf_list const& along) const {
    return numbers_of(every_other(forward_->run(with_tangents(s_.inputs, along))));
  }

  // Compares the inner products a · b and c · d, with a tolerance relative to the magnitude of their terms.
  void compare_products(
      std::string const& what, vector const& a, vector const& b, vector const& c, vector const& d) {
    if (a.size() != b.size() || c.size() != d.size())
      return fail(
          what + ": there are " + std::to_string(c.size()) + " numbers, and the function takes " +
          std::to_string(d.size()));
    double first = 0, second = 0, scale = 1;
    for (std::size_t i = 0; i < a.size(); ++i) first += a[i] * b[i], scale += std::abs(a[i] * b[i]);
    for (std::size_t i = 0; i < c.size(); ++i) second += c[i] * d[i], scale += std::abs(c[i] * d[i]);
    ++report_.checks;
    if (!are_close(first, second, rounding() * scale))
      fail(what + ": it is " + text_of(second) + ", and forwards " + text_of(first));
  }
  leaf_list reversed(executable const& e, leaf_list x, leaf_list const& cotangent) const {
    x.insert(x.end(), cotangent.begin(), cotangent.end());
    return e.run(x);
  }
  void
  transposed(std::string const& what, vector const& d, leaf_list const& cotangent, vector const& tangents) {
    leaf_list const back = reversed(*reverse_, s_.inputs, cotangent);
    compare_products(
        "reverse " + what + ": a cotangent times the change", numbers_of(cotangent), tangents,
        numbers_of(back), d);
    ++report_.checks;
    if (reversed(*reverse_, s_.inputs, cotangent) != back)
      fail("reverse " + what + ": a second call returns another result");
  }
  void nested(std::string const& what, vector const& d, leaf_list const& cotangent) {
    leaf_list const along = with_numbers(s_.inputs, d);
    vector const other = random_vector(d.size(), random_);
    leaf_list const along_other = with_numbers(s_.inputs, other);
    vector const second = numbers_of(s_.second(s_.inputs, along, along_other));
    if (!s_.reference)
      compare_estimates(
          "forward over forward " + what, second,
          differences(
              [&](double t) { return numbers_of(s_.tangents(moved(other, t), along)); }, first_step(other)),
          results_);
    if (forward_over_reverse_) {
      leaf_list x = with_tangents(s_.inputs, along_other);
      leaf_list const constant = with_numbers(cotangent, vector(numbers_of(cotangent).size()));
      leaf_list const c = with_tangents(cotangent, constant);
      compare_products(
          "forward over reverse " + what, numbers_of(cotangent), second,
          numbers_of(every_other(reversed(*forward_over_reverse_, x, c))), d);
    }
    if (reverse_over_forward_) {
      leaf_list const none = with_numbers(cotangent, vector(numbers_of(cotangent).size()));
      leaf_list const back =
          reversed(*reverse_over_forward_, with_tangents(s_.inputs, along), with_tangents(none, cotangent));
      leaf_list by_inputs; // the cotangents of the inputs, without those of the direction
      for (std::size_t i = 0; i < back.size(); ++i) {
        by_inputs.push_back(back[i]);
        if (ir::is_differentiable(back[i].type())) ++i;
      }
      compare_products(
          "reverse over forward " + what, numbers_of(cotangent), second, numbers_of(by_inputs), other);
    }
  }

  subject const& s_;
  derivative_test const& how_;
  std::mt19937_64 random_;
  bool has_floats_ = false;
  derivative_report report_;
  leaf_list results_;
  std::optional<executable> forward_, reverse_, forward_over_reverse_, reverse_over_forward_;
};

derivative_report check(subject const& s, derivative_test const& how) { return checker(s, how).run(); }

} // namespace overdub::oracle

namespace overdub {

derivative_report test_derivative(
    ir::program const& p, std::vector<datum> const& inputs, derivative_test const& how,
    std::function<std::vector<datum>(std::vector<datum> const& x, std::vector<datum> const& along)> const&
        reference) {
  using oracle::leaf_list;
  try {
    executable const value(p), once(forward_of(p)), twice(forward_of(forward_of(p)));
    oracle::subject s;
    s.program = p;
    s.inputs = inputs;
    s.reference = reference;
    s.value = [&](leaf_list const& x) { return value.run(x); };
    s.tangents = [&](leaf_list const& x, leaf_list const& along) {
      return oracle::every_other(once.run(oracle::with_tangents(x, along)));
    };
    // Nested forward mode returns four numbers for each: the value, its tangents for b and a, and the second derivative.
    s.second = [&](leaf_list const& x, leaf_list const& a, leaf_list const& b) {
      leaf_list const none = oracle::with_numbers(x, oracle::vector(oracle::numbers_of(x).size()));
      leaf_list const all =
          oracle::with_tangents(oracle::with_tangents(x, a), oracle::with_tangents(b, none));
      return oracle::every_other(oracle::every_other(twice.run(all)));
    };
    return oracle::check(s, how);
  } catch (error const& e) {
    derivative_report report;
    report.failures.push_back(std::string("the derivative cannot be tested: ") + e.what());
    return report;
  }
}

} // namespace overdub
