// The errors that the verifier collects: sentences that name the function and the operation. The program may be broken in
// any way, so that every id is checked before it is used.
#pragma once

#include <overdub/ir/error.hpp>
#include <overdub/ir/program.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::ir::detail {

class findings {
public:
  static constexpr std::size_t most = 100;

  explicit findings(program const& p) : program_(p) {}

  std::size_t size() const { return found_.size(); }
  bool is_full() const { return found_.size() >= most; }
  std::vector<diagnostic> take() { return std::move(found_); }

  /// An error of the program, of a function, or of an operation.
  void add(std::string text) {
    if (!is_full()) found_.push_back({.text = std::move(text)});
  }
  void add(function_id f, std::string const& text) {
    if (!is_full()) found_.push_back({.text = name_of(f) + ": " + text, .where = f});
  }
  void add(function_id f, node_id n, std::string const& text) {
    if (is_full()) return;
    found_.push_back(
        {.text = name_of(f) + ": " + describe(program_[f], n) + ": " + text + place_of(program_[f], n),
         .where = f,
         .at = n});
  }
  /// Sorts the errors from the first-th on in the order of the operations.
  template <class Order>
  void sort_from(std::size_t first, Order order_of) {
    auto const less = [&](diagnostic const& a, diagnostic const& b) {
      return order_of(a.at) < order_of(b.at);
    };
    // An insertion sort: they are few, and nearly sorted.
    auto const begin = found_.begin() + static_cast<std::ptrdiff_t>(first);
    for (auto at = begin; at != found_.end(); ++at)
      std::rotate(std::upper_bound(begin, at, *at, less), at, std::next(at));
  }

  /// @norm, or its index.
  std::string name_of(function_id f) const {
    if (index_of(f) < program_.functions.size() && has(program_[f].name))
      return "@" + std::string(program_.text(program_[f].name));
    return "function " + std::to_string(index_of(f));
  }
  /// %x, or its index.
  std::string name_of(function const& f, value_id v) const {
    if (index_of(v) >= f.value_count()) return "value " + std::to_string(index_of(v));
    symbol const name = f[v].name;
    if (has(name) && !program_.text(name).empty()) return "%" + std::string(program_.text(name));
    return (f.is_literal(v) ? "literal " : "value ") + std::to_string(index_of(v));
  }
  bool has(symbol s) const { return index_of(s) < program_.symbol_count(); }

private:
  static std::string_view code_of(op code) { return code < op::none ? ir::name_of(code) : "no operation"; }
  // operation 3 (%x = mul)
  std::string describe(function const& f, node_id n) const {
    std::string text = "operation " + std::to_string(index_of(n));
    if (index_of(n) >= f.node_count()) return text;
    text += " (";
    function::node const& node = f[n];
    if (node.result_count > 0 && node.first_result < f.value_count() &&
        has(f[value_id{node.first_result}].name))
      text += name_of(f, value_id{node.first_result}) + " = ";
    return text.append(code_of(node.code)) + ")";
  }
  // The source location of the operation, if it is known.
  std::string place_of(function const& f, node_id n) const {
    if (index_of(n) >= f.node_count() || index_of(f[n].place) >= program_.place_count()) return {};
    place const& p = program_[f[n].place];
    if (!has(p.file)) return {};
    return " (" + std::string(program_.text(p.file)) + ":" + std::to_string(p.line) + ")";
  }

  program const& program_;
  std::vector<diagnostic> found_;
};

} // namespace overdub::ir::detail
