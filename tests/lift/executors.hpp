// Runs a lifted function by every executor, and compares the results with those of native code, to the bit.
#pragma once

#include "catch.hpp"

#include <overdub/execute/datum.hpp>
#include <overdub/execute/datum_text.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/jit/jit.hpp>
#include <overdub/lift.hpp>
#include <overdub/pass/dce.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lifted {

using overdub::datum;

// By evaluate; defined in one source, since it is slow to compile.
std::vector<datum>
evaluated(overdub::ir::program const& p, overdub::ir::function_id f, std::vector<datum> const& arguments);

/// A function of a program, compiled once. To compile it to machine code takes most of the time: a test may leave this out.
class function {
public:
  function(overdub::ir::program const& p, std::string const& name, bool is_compiled = true)
      : p_(p), name_(name) {
    std::optional<overdub::ir::function_id> const f = p.find(name);
    INFO(name);
    REQUIRE(f);
    f_ = *f;
    p_.entry = f_;
    overdub::pass::drop_unreached_functions(p_); // each executor verifies the whole program
    interpreted_.emplace(p_, f_);
    if (is_compiled) compiled_.emplace(overdub::jit::compile(p_, f_, {}, {.optimisation = 1}));
  }
  /// Whether all executors return what native code does.
  void check(std::vector<datum> const& arguments, std::vector<datum> const& native, bool evaluates = true) {
    INFO(name_ << '(' << text_of(arguments) << ") is natively " << text_of(native));
    CHECK(text_of(interpreted_->run(arguments)) == text_of(native));
    if (compiled_) CHECK(text_of(compiled_->run(arguments)) == text_of(native));
    if (evaluates) CHECK(text_of(evaluated(p_, f_, arguments)) == text_of(native));
  }

private:
  // Texts of numbers have all digits; every NaN is nan.
  static std::string text_of(std::vector<datum> const& all) {
    std::string text;
    for (datum const& d : all) {
      std::string one = overdub::text_of(d);
      for (std::size_t at; (at = one.find("nan(")) != one.npos || (at = one.find("-nan")) != one.npos;)
        one.replace(at, one[at] == '-' ? 4 : one.find(')', at) + 1 - at, "nan");
      text += (text.empty() ? "" : ", ") + one;
    }
    return text;
  }
  overdub::ir::program p_;
  std::string name_;
  overdub::ir::function_id f_{};
  std::optional<overdub::executable> interpreted_, compiled_;
};

/// A number as programs have it: integers are sign-extended from their width.
template <class T>
auto widened(T x) {
  if constexpr (std::same_as<T, bool> || std::floating_point<T>)
    return x;
  else
    return std::int64_t{static_cast<std::make_signed_t<T>>(x)};
}
template <class T>
datum as_datum(T x) {
  return datum(widened(x));
}
template <class T>
datum as_datum(std::vector<T> const& all) {
  std::vector<decltype(widened(T{}))> wide;
  for (T const x : all) wide.push_back(widened(x));
  return datum(wide);
}

} // namespace lifted
