// The types of values that the interpreter and the machine code support.
#pragma once

#include <overdub/ir/type_text.hpp>

#include <string>

namespace overdub::execute {

/// Refuses a function with values of a type that is not supported. The function is lowered or compiled: it has a program p, and
/// refuse(why), which throws.
template <class Function>
void refuse_unless_supported(Function const& fn, ir::type t) {
  if (t.element == ir::scalar::key || t.element == ir::scalar::opaque)
    fn.refuse("it has values of type " + ir::text_of(fn.p, t) + ", which are not supported here");
  if (t.element == ir::scalar::function && t.rank > 0)
    fn.refuse("it has arrays of functions; pass the functions one by one");
}

} // namespace overdub::execute
