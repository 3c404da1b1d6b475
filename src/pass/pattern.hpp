// Patterns of operations, in the notation of the table of rewrite rules: "(sub x (neg y))". A name matches any value, and
// equal names the same value; a number matches a literal of the type at that position.
#pragma once

#include <overdub/implementation/pass/congruence.hpp>
#include <overdub/io/number_text.hpp>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace overdub::pass {

/// A pattern as a tree in a vector of nodes; the first node is the root.
class pattern {
public:
  struct node {
    enum class kind : std::uint8_t { name, number, boolean, operation };
    kind is = kind::name;
    op code = op::none;
    std::uint8_t name = 0;               // the index of the variable: x is 0
    double number = 0;                   // or 0 and 1 for bool
    std::vector<std::uint32_t> operands; // indices of nodes
  };

  static constexpr std::size_t maximum_names = 26;
  using bindings = std::array<value_id, maximum_names>;

  explicit pattern(std::string_view text) { (void)parse(text); }

  node const& root() const { return nodes_.front(); }
  node const& operator[](std::uint32_t i) const { return nodes_[i]; }

  /// This pattern, and its variants with the operands of commutative operations exchanged.
  std::vector<pattern> variants() const {
    std::vector<pattern> all{*this};
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].is != node::kind::operation || !ir::row_of(nodes_[i].code).has(ir::op_traits::commutes))
        continue;
      for (std::size_t k = all.size(); k-- > 0;) {
        pattern other = all[k];
        std::swap(other.nodes_[i].operands[0], other.nodes_[i].operands[1]);
        all.push_back(other);
      }
    }
    return all;
  }

  /// Whether an operation matches; `found` gets the bindings. O(pattern).
  bool matches(function const& f, node_id n, bindings& found) const {
    found.fill(nothing);
    return matches(f, n, root(), found);
  }

  /// The bits of a number in the pattern, as a literal of type t.
  static std::uint64_t bits_of(node const& x, type t) {
    if (t == ir::f64) return std::bit_cast<std::uint64_t>(x.number);
    if (t == ir::f32) return std::bit_cast<std::uint32_t>(static_cast<float>(x.number));
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(x.number));
  }

private:
  bool matches(function const& f, node_id n, node const& x, bindings& found) const {
    if (f[n].code != x.code || f[n].operand_count != x.operands.size()) return false;
    for (std::uint32_t i = 0; i < x.operands.size(); ++i)
      if (!matches(f, f.operand(n, i), nodes_[x.operands[i]], found)) return false;
    return true;
  }
  bool matches(function const& f, value_id v, node const& x, bindings& found) const {
    switch (x.is) {
    case node::kind::name:
      if (found[x.name] == nothing) found[x.name] = v;
      return found[x.name] == v;
    case node::kind::number:
    case node::kind::boolean: {
      if (!f.is_literal(v)) return false;
      type const t = f.type_of(v);
      return (t == ir::boolean) == (x.is == node::kind::boolean) && f.bits_of(v) == bits_of(x, t);
    }
    case node::kind::operation:
      return f.is_result(v) && matches(f, f.node_of(v), x, found);
    }
    return false;
  }

  std::uint32_t parse(std::string_view& text) {
    auto const number = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
    while (text.front() == ' ') text.remove_prefix(1);
    if (text.front() == '(') {
      text.remove_prefix(1);
      nodes_[number].is = node::kind::operation;
      nodes_[number].code = *ir::op_of(word(text));
      while (text.front() != ')') {
        std::uint32_t const operand = parse(text);
        nodes_[number].operands.push_back(operand);
        while (text.front() == ' ') text.remove_prefix(1);
      }
      text.remove_prefix(1);
      return number;
    }
    std::string_view const w = word(text);
    node& x = nodes_[number];
    if (w == "true" || w == "false") {
      x.is = node::kind::boolean;
      x.number = w == "true" ? 1 : 0;
    } else if (w.size() == 1 && w[0] >= 'a') {
      x.name = static_cast<std::uint8_t>(
          (w[0] - 'x' + static_cast<int>(maximum_names)) % static_cast<int>(maximum_names));
    } else {
      x.is = node::kind::number;
      (void)io::parse_whole(w, x.number);
    }
    return number;
  }
  static std::string_view word(std::string_view& text) {
    std::string_view const w = text.substr(0, text.find_first_of(" )"));
    text.remove_prefix(w.size());
    return w;
  }

  std::vector<node> nodes_;
};

} // namespace overdub::pass
