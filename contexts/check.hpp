// check: what may go wrong in a function, without running it. The function is staged, and its program is run on what its values may
// be: bounds of numbers, lengths of arrays. Soundness is the law of it: what is not found does not happen.
#pragma once

#include <overdub/compile/artifact.hpp>
#include <overdub/contexts/check/bounds.hpp>
#include <overdub/contexts/check/report.hpp>
#include <overdub/core/exact_math.hpp>
#include <overdub/header_only.hpp>
#include <overdub/stage/stage.hpp>

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace overdub::contexts {

/// What is found in a program whose arguments may be these: one for each parameter of its entry, in their order; without any,
/// all finite numbers, and arrays of them. Throws argument_error where they do not fit. Time: loops are looked at a few times, and
/// a function once for each path of calls that leads to it, as long as that is at most `steps` operations; from there on, each
/// function once, with any arguments. The program must be valid. Thread-safe.
OVERDUB_DECL check_report
check(ir::program const& p, std::vector<bounds> const& inputs = {}, long steps = 400'000);

/// The same of a function, for all finite arguments of these types.
template <class F, class... A>
check_report check(F const& f, types<A...> arguments) {
  return check(stage(f, arguments));
}

/// The same, for arguments that are as they say: check(f, between(0.0, 1.0), each(between(0, 9))).
template <class F, class... T>
requires(sizeof...(T) > 0) check_report check(F const& f, bounds_of<T> const&... inputs) {
  return check(stage(f, signature<T...>), {inputs.erased()...});
}

/// A program was refused by `checked`.
struct OVERDUB_EXPORTED check_failed : refusal {
  using refusal::refusal;
};

/// A context that refuses programs: where something that throws, or gives NaN, is certain, for whatever finite arguments,
/// compilation throws check_failed, whose text is that of the first finding. The cache keeps that: the same function is not checked again.
struct checked : context {
  static constexpr std::string_view name = "checked";

  static void after_inference(ir::program const& p);
};

} // namespace overdub::contexts

#if OVERDUB_HEADER_ONLY
#include <overdub/contexts/check.ipp>
#endif
