#include <overdub/check/values.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace overdub::checking {

number any_number(ir::type t) {
  switch (t.element) {
  case ir::scalar::f32:
  case ir::scalar::f64:
    return number::of(reals::any());
  case ir::scalar::i64:
    return number::of(integers::any());
  case ir::scalar::boolean:
    return number::of(bools::any());
  default:
    return number::any(); // unknown
  }
}

abstract anything(ir::type t) {
  return {t, any_number(t), std::vector<integers>(t.rank, integers::sizes()), nullptr};
}

abstract literal_of(ir::type t, std::uint64_t bits) {
  switch (t.element) {
  case ir::scalar::f32:
    return scalar_of(t, number::of(reals::only(std::bit_cast<float>(static_cast<std::uint32_t>(bits)))));
  case ir::scalar::f64:
    return scalar_of(t, number::of(reals::only(std::bit_cast<double>(bits))));
  case ir::scalar::i64:
    return scalar_of(t, number::of(integers::only(static_cast<int64_t>(bits))));
  default:
    return scalar_of(t, number::of(bools::only(bits != 0)));
  }
}

number join(number const& x, number const& y) {
  return {
      join(x.real, y.real),
      join(x.whole, y.whole),
      {x.boolean.may_be_false || y.boolean.may_be_false, x.boolean.may_be_true || y.boolean.may_be_true}};
}

bool is_within(number const& x, number const& y) {
  return is_within(x.real, y.real) && is_within(x.whole, y.whole) &&
         x.boolean.may_be_false <= y.boolean.may_be_false && x.boolean.may_be_true <= y.boolean.may_be_true;
}

abstract join(abstract const& x, abstract const& y) {
  abstract r = x;
  r.element = join(x.element, y.element);
  for (std::size_t i = 0; i < r.lengths.size(); ++i) r.lengths[i] = join(x.lengths[i], y.lengths[i]);
  bool same = x.calls == y.calls;
  if (!same && x.calls && y.calls && x.calls->callee == y.calls->callee) {
    same = true;
    for (std::size_t i = 0; i < x.calls->captured.size(); ++i)
      same = same && is_within(y.calls->captured[i], x.calls->captured[i]);
  }
  if (!same) r.calls = nullptr;
  return r;
}

bool is_within(abstract const& x, abstract const& y) {
  if (!is_within(x.element, y.element)) return false;
  for (std::size_t i = 0; i < x.lengths.size(); ++i)
    if (!is_within(x.lengths[i], y.lengths[i])) return false;
  if (y.calls == nullptr || x.calls == y.calls) return true;
  if (x.calls == nullptr || x.calls->callee != y.calls->callee) return false;
  for (std::size_t i = 0; i < x.calls->captured.size(); ++i)
    if (!is_within(x.calls->captured[i], y.calls->captured[i])) return false;
  return true;
}

namespace {
// The next threshold for widening, so that bounds stabilise after few steps.
double lower(double x) { return x >= 1 ? 1 : x >= 0 ? 0 : x >= -1 ? -1 : -infinity; }
double upper(double x) { return -lower(-x); }
int64_t lower(int64_t x) { return x >= 1 ? 1 : x >= 0 ? 0 : x >= -1 ? -1 : integers::minimum; }
int64_t upper(int64_t x) { return x <= -1 ? -1 : x <= 0 ? 0 : x <= 1 ? 1 : integers::maximum; }
} // namespace

reals widened(reals const& before, reals const& x) {
  reals r = join(before, x);
  if (r.low < before.low) r.low = lower(r.low);
  if (r.high > before.high) r.high = upper(r.high);
  return r;
}

integers widened(integers const& before, integers const& x) {
  integers r = join(before, x);
  if (r.low < before.low) r.low = lower(r.low);
  if (r.high > before.high) r.high = upper(r.high);
  if (r.from != before.from) r.from = {};
  if (r.to != before.to) r.to = {};
  return r;
}

abstract widened(abstract const& before, abstract const& x) {
  abstract r = join(before, x);
  r.element.real = widened(before.element.real, x.element.real);
  r.element.whole = widened(before.element.whole, x.element.whole);
  for (std::size_t i = 0; i < r.lengths.size(); ++i) r.lengths[i] = widened(before.lengths[i], x.lengths[i]);
  return r;
}

abstract before(abstract x, std::uint32_t symbol) {
  x.element.whole = x.element.whole.before(symbol);
  for (integers& length : x.lengths) length = length.before(symbol);
  if (x.calls)
    for (abstract const& c : x.calls->captured)
      if (c.type.rank > 0 || c.type.element == ir::scalar::i64 || c.calls) {
        auto copy = std::make_shared<known_closure>(*x.calls);
        for (abstract& captured : copy->captured) captured = before(captured, symbol);
        x.calls = std::move(copy);
        break;
      }
  return x;
}

std::string text_of(reals const& x) {
  auto const number = [](double v) { return io::number_text(v + 0.0, io::significant(6)); }; // 0 of -0
  if (!x.has_numbers()) return x.nan ? "NaN" : "nothing";
  std::string const text =
      x.low == x.high ? number(x.low) : "in [" + number(x.low) + ", " + number(x.high) + ']';
  return text + (x.nan ? " or NaN" : "");
}

std::string text_of(integers const& x) {
  bool const is_endless = x.high >= integers::sizes().high / 2; // includes lengths without a bound
  if (x.is_empty()) return "nothing";
  if (x.low == integers::minimum && x.high == integers::maximum) return "any integer";
  std::string const low = io::number_text(x.low), high = io::number_text(x.high);
  if (x.low == x.high) return low;
  if (is_endless) return "at least " + low;
  if (x.low == integers::minimum) return "at most " + high;
  return "in [" + low + ", " + high + ']';
}

std::string text_of(abstract const& x) {
  switch (x.type.element) {
  case ir::scalar::f32:
  case ir::scalar::f64:
    return text_of(x.element.real);
  case ir::scalar::i64:
    return text_of(x.element.whole);
  case ir::scalar::boolean:
    return x.element.boolean.is_empty()            ? "nothing"
           : x.element.boolean.is_certainly(true)  ? "true"
           : x.element.boolean.is_certainly(false) ? "false"
                                                   : "true or false";
  default:
    return "not known";
  }
}

} // namespace overdub::checking
