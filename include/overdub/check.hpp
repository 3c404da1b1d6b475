// check: static analysis of a function by abstract interpretation (Cousot and Cousot, 1977). The function is staged, and
// its program is evaluated on sets of values: intervals of numbers, lengths of arrays. It is sound: no error occurs that it
// does not report.
#pragma once

#include <overdub/check/bounds.hpp>
#include <overdub/check/report.hpp>
#include <overdub/compile/artifact.hpp>
#include <overdub/core/exact_math.hpp>
#include <overdub/core/library.hpp>
#include <overdub/stage/stage.hpp>

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace overdub {

/// The findings of a program for these arguments, one for each parameter of its entry; by default, all finite numbers, and
/// arrays of them. Throws argument_error for arguments that do not match. Loops are analysed a few times, and a function
/// once for each call path, up to `steps` operations; beyond, each function once, with any arguments. The program must be
/// valid. Thread-safe.
check_report check(ir::program const& p, std::vector<bounds> const& inputs = {}, long steps = 400'000);

/// The findings of a function for all finite arguments of these types.
template <class F, class... A>
check_report check(F const& f, types<A...> arguments) {
  return check(stage(f, arguments));
}

/// The findings for restricted arguments: check(f, between(0.0, 1.0), each(between(0, 9))).
template <class F, class... T>
requires(sizeof...(T) > 0) check_report check(F const& f, bounds_of<T> const&... inputs) {
  return check(stage(f, signature<T...>), {inputs.erased()...});
}

/// `checked` has rejected a program.
struct OVERDUB_EXPORTED check_failed : refusal {
  using refusal::refusal;
};

/// A context that rejects programs in which an exception or a NaN is certain for all finite arguments: compilation throws
/// check_failed with the text of the first finding. The compile cache stores the result, so that a function is checked
/// once.
struct checked : context {
  static constexpr std::string_view name = "checked";

  static void after_inference(ir::program const& p);
};

} // namespace overdub
