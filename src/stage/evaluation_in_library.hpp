// Instantiates the evaluation of programs for a stack of contexts in the library: a source includes this header, and writes
// OVERDUB_EVALUATE_IN_LIBRARY(stack) in the namespace overdub::detail.
#pragma once

#include <overdub/stage/evaluate.hpp>

namespace overdub::detail {

template <class S>
std::vector<cell<S>> evaluation<S, evaluated::in_library>::run(
    ir::program const& p, S const& contexts, ir::function_id f, std::vector<cell<S>> const& arguments,
    evaluation_place* failed) {
  return evaluation_here<S>::run(p, contexts, f, arguments, failed);
}
template <class S>
std::vector<cell<S>> evaluation<S, evaluated::in_library>::call_staged(
    ir::program const& p, S const& contexts, std::string above, ir::function_id f,
    std::vector<cell<S>> const& arguments) requires is_symbolic<S> {
  return evaluation_here<S>::call_staged(p, contexts, std::move(above), f, arguments);
}
template <class S>
std::vector<ir::function_id> evaluation<S, evaluated::in_library>::staged(
    ir::program const& p, S const& contexts, std::string above,
    std::span<ir::function_id const> functions) requires is_symbolic<S> {
  return evaluation_here<S>::staged(p, contexts, std::move(above), functions);
}

} // namespace overdub::detail

#define OVERDUB_EVALUATE_IN_LIBRARY(...) template struct evaluation<__VA_ARGS__>;
