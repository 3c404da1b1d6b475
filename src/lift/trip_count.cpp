#include "trip_count.hpp"

#include "values.hpp"

#include <algorithm>
#include <cstdint>

namespace overdub::lifting {
namespace {

using ir::op;
using ir::value_id;
using llvm::CmpInst;

value_id difference(ir::cursor& c, value_id a, value_id b) {
  return known_number(c, b) == 0 ? a : c.add(op::sub, a, b);
}

} // namespace

value_id first_compared(ir::cursor& c, headed_loop const& loop, value_id start) {
  if (loop.offset == 0) return start;
  value_id const sum = c.add(op::add, start, number(c, loop.offset));
  return loop.is_compared_wrapped ? wrapped(c, sum, width_of(loop.index->getType())) : sum;
}

value_id trip_count(ir::cursor& c, headed_loop const& loop, value_id first, value_id bound) {
  unsigned const width = width_of(loop.index->getType());
  bool const is_unsigned = CmpInst::isUnsigned(loop.how);
  if (width < 64 && (is_unsigned || loop.how == CmpInst::ICMP_NE)) {
    first = zero_extended(c, first, width);
    bound = zero_extended(c, bound, width);
  }
  value_id const low = loop.step > 0 ? first : bound, high = loop.step > 0 ? bound : first;
  value_id distance = difference(c, high, low);
  if (loop.how == CmpInst::ICMP_NE) return zero_extended(c, distance, width); // it may wrap around
  bool const is_inclusive = loop.how == CmpInst::ICMP_SLE || loop.how == CmpInst::ICMP_SGE;
  std::int64_t const step = loop.step > 0 ? loop.step : -loop.step;
  if (step > 1) {
    value_id const last = is_inclusive ? distance : c.add(op::sub, distance, number(c, 1));
    distance = c.add(op::add, c.add(op::div, last, number(c, step)), number(c, 1));
  } else if (is_inclusive)
    distance = c.add(op::add, distance, number(c, 1));
  // A difference of 64 bits may wrap around, and a division rounds to 0.
  bool const is_exact = step == 1 && (width < 64 || known_number(c, low) == 0);
  if (is_exact) return distance;
  value_id const runs = compared(c, loop.how, first, bound);
  return c.add(op::select, runs, distance, number(c, 0));
}

value_id iterations(ir::cursor& c, value_id trip_count) { return c.add(op::max, trip_count, number(c, 0)); }

value_id index_after(ir::cursor& c, headed_loop const& loop, value_id start, value_id iterations) {
  value_id const distance = loop.step == 1 ? iterations : c.add(op::mul, iterations, number(c, loop.step));
  value_id const index = known_number(c, start) == 0 ? distance : c.add(op::add, start, distance);
  return loop.wraps ? wrapped(c, index, width_of(loop.index->getType())) : index;
}

} // namespace overdub::lifting
