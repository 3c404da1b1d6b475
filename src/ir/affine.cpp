#include <overdub/implementation/ir/affine.hpp>
#include <overdub/implementation/ir/names_of_values.hpp>

namespace overdub::ir {
namespace {

// Arithmetic of i64, which wraps.
std::int64_t wrapped_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t wrapped_product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

constexpr invariant_number computed_number{.is_computed = true};

invariant_number sum_of(invariant_number const& x, invariant_number const& y) {
  if (x.is_computed || y.is_computed || (x.value != nothing && y.value != nothing)) return computed_number;
  return {x.value == nothing ? y.value : x.value, wrapped_sum(x.literal, y.literal)};
}
invariant_number product_of(invariant_number const& x, invariant_number const& y) {
  if (x.is_literal(0) || y.is_literal(1)) return x;
  if (y.is_literal(0) || x.is_literal(1)) return y;
  if (!x.is_literal() || !y.is_literal()) return computed_number;
  return {.literal = wrapped_product(x.literal, y.literal)};
}
invariant_number negated(invariant_number const& x) { return product_of(x, {.literal = -1}); }

class affine_search {
public:
  affine_search(function const& f, known_affine known) : f_(f), known_(known) {}

  std::optional<affine> of(value_id v) {
    if (auto const known = known_(v)) return known;
    if (f_.is_literal(v)) return affine{{}, {.literal = static_cast<std::int64_t>(f_.bits_of(v))}};
    if (!f_.is_result(v) || f_.type_of(v) != i64 || left_ == 0) return {};
    --left_;
    node_id const n = f_.node_of(v);
    op const code = f_[n].code;
    if (code != op::add && code != op::sub && code != op::mul && code != op::div) return {};
    auto const x = of(f_.operand(n, 0));
    if (!x) return {};
    auto const y = of(f_.operand(n, 1));
    if (!y) return {};
    return combined(code, *x, *y);
  }

private:
  static std::optional<affine> combined(op code, affine const& x, affine const& y) {
    bool const x_is_invariant = x.scale.is_literal(0), y_is_invariant = y.scale.is_literal(0);
    if (code == op::add) return affine{sum_of(x.scale, y.scale), sum_of(x.offset, y.offset)};
    if (code == op::sub)
      return affine{sum_of(x.scale, negated(y.scale)), sum_of(x.offset, negated(y.offset))};
    if (code == op::mul) {
      if (!x_is_invariant && !y_is_invariant) return {};
      affine const& factor = x_is_invariant ? x : y;
      affine const& other = x_is_invariant ? y : x;
      return affine{product_of(other.scale, factor.offset), product_of(other.offset, factor.offset)};
    }
    bool const divides = y.offset.is_literal() && y.offset.literal != 0; // without failure
    if (!x_is_invariant || !y_is_invariant || !divides) return {};
    return affine{{}, computed_number};
  }

  function const& f_;
  known_affine known_;
  int left_ = 64; // operations
};

} // namespace

std::optional<affine> affine_of(function const& f, value_id v, known_affine known) {
  return affine_search(f, known).of(v);
}

invariant_number plus_literal(function const& f, value_id v) {
  // Whether an operation adds a literal to a value, or subtracts it.
  auto const has_literal = [&](node_id n) {
    return f.is_literal(f.operand(n, 1)) || (f[n].code == op::add && f.is_literal(f.operand(n, 0)));
  };
  auto const value_itself = [&](value_id x) -> std::optional<affine> {
    bool const is_sum =
        f.is_result(x) && (f[f.node_of(x)].code == op::add || f[f.node_of(x)].code == op::sub);
    if (f.is_literal(x) || (is_sum && has_literal(f.node_of(x)))) return {};
    return affine::invariant(x);
  };
  auto const found = affine_of(f, v, value_itself);
  return found ? found->offset : invariant_number{.value = v};
}

std::string text_of(affine const& x, program const& p, function const& f) {
  names_of_values const names(p, f);
  auto const text_of_number = [&](invariant_number const& k) {
    if (k.is_computed) return std::string("...");
    if (k.value == nothing) return std::to_string(k.literal);
    if (k.literal == 0) return names[k.value];
    std::string const literal = std::to_string(k.literal);
    return names[k.value] + (k.literal < 0 ? " - " + literal.substr(1) : " + " + literal);
  };
  if (x.scale.is_literal(0)) return text_of_number(x.offset);
  bool const is_sum = x.scale.value != nothing && x.scale.literal != 0;
  std::string text = x.scale.is_literal(1) ? ""
                     : is_sum              ? "(" + text_of_number(x.scale) + ") * "
                                           : text_of_number(x.scale) + " * ";
  text += "counter";
  if (x.offset.is_literal(0)) return text;
  if (x.offset.is_literal() && x.offset.literal < 0) return text + " - " + text_of_number(x.offset).substr(1);
  return text + " + " + text_of_number(x.offset);
}

} // namespace overdub::ir
