#include <overdub/implementation/ir/keywords.hpp>
#include <overdub/implementation/ir/literal.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/ir/type_text.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace overdub::ir {
namespace detail {

class printer {
public:
  printer(program const& p, print_options const& options) : p_(p), options_(options) {}

  std::string take() { return std::move(out_); }

  void print_program() {
    out_.reserve(64 * node_count());
    if (p_.math != math_mode::exact) {
      out_ += "math ";
      auto const mode = static_cast<std::size_t>(p_.math);
      out_ += mode < math_mode_names.size() ? math_mode_names[mode] : "?"; // the verifier rejects it
      out_ += '\n';
    }
    if (p_.entry != nothing) {
      out_ += "entry ";
      name_of(p_.entry);
      out_ += '\n';
    }
    for (std::uint32_t i = 0; i < p_.functions.size(); ++i) {
      if (p_.is_erased(function_id{i})) continue;
      if (!out_.empty()) out_ += '\n';
      print_function(function_id{i});
    }
  }

  void print_function(function_id id) {
    f_ = &p_[id];
    ++stamp_;
    next_number_ = 0;
    labels_.assign(f_->value_count(), unlabelled);
    out_ += "func ";
    name_of(id);
    out_ += '(';
    arguments(function::body, 0, nothing, 0);
    out_ += ')';
    arrow(f_->results);
    if (f_->structure != nothing) {
      out_ += " structure ";
      text(f_->structure);
    }
    print_derivative(f_->derivative);
    places(f_->place);
    out_ += " {\n";
    print_body();
    out_ += "}\n";
  }

private:
  static constexpr std::uint32_t unlabelled = ~0u;
  static constexpr std::uint32_t named = ~0u - 1; // printed by the value's own name

  std::size_t node_count() const {
    std::size_t n = 1;
    for (function const& f : p_.functions) n += f.node_count();
    return n;
  }

  void print_derivative(derivative const& d) {
    switch (d.how) {
    case derivative::by::body:
      return;
    case derivative::by::rule:
      out_ += " tangent ";
      name_of(d.tangent);
      if (d.cotangent == nothing) return;
      out_ += " cotangent ";
      return name_of(d.cotangent);
    case derivative::by::constant:
      out_ += " constant";
      return;
    case derivative::by::refused:
      out_ += " not_differentiable ";
      return text(d.why);
    }
  }

  // Without recursion, since regions may be nested deeply.
  void print_body() {
    function const& f = *f_;
    region_id r = function::body;
    std::uint32_t depth = 1;
    for (node_id n = f[r].first;;) {
      if (n != nothing) {
        indent(depth);
        head(n, r);
        if (f[n].region_count == 0) {
          out_ += '\n';
          n = f[n].next;
          continue;
        }
        r = f.region_at(n, 0);
      } else {
        if (r == function::body) return;
        node_id const owner = f[r].parent;
        indent(--depth);
        out_ += '}';
        std::uint32_t const following = index_of(r) - f[owner].first_region + 1;
        if (following == f[owner].region_count) {
          out_ += '\n';
          r = f[owner].parent;
          n = f[owner].next;
          continue;
        }
        r = f.region_at(owner, following);
        out_ += ' ';
        out_ += second_region_word(f[owner].code);
        region_arguments(r, 0, nothing, 0);
      }
      out_ += " {\n";
      ++depth;
      n = f[r].first;
    }
  }
  void indent(std::uint32_t depth) {
    out_.append(std::min(depth, maximum_indentation) * std::size_t{2}, ' ');
  }

  // Prints an operation up to its first region.
  void head(node_id n, region_id r) {
    function const& f = *f_;
    function::node const& node = f[n];
    attributes const& a = node.attributes;
    id_range<value_id> const results = f.results_of(n);
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (i > 0) out_ += ", ";
      define(results[i]);
    }
    if (!results.empty()) out_ += " = ";
    out_ += node.code == op::yield && r == function::body ? "return" : ir::name_of(node.code);
    std::uint32_t const count = node.operand_count;
    switch (node.code) {
    case op::call:
    case op::closure:
      out_ += node.code == op::call && a.is_exempt() ? " exempt " : " ";
      name_of(a.callee());
      in_brackets(n, 0);
      types(n);
      break;
    case op::apply:
      operands(n, 0, std::min(count, 1u), " ");
      in_brackets(n, 1);
      types(n);
      break;
    case op::reabstract:
      operands(n, 0, count, " ");
      for (value_id const v : f.operands_of(n)) append_type(out_ += " : ", p_, f.type_of(v));
      for (value_id const v : results) append_type(out_ += " as ", p_, f.type_of(v));
      break;
    case op::host:
      out_ += ' ';
      out_ += effect_names[std::min(static_cast<std::size_t>(a.effects), effect_names.size() - 1)];
      out_ += ' ';
      text(a.text());
      in_brackets(n, 0);
      types(n);
      break;
    case op::sample:
      out_ += ' ';
      text(a.text());
      if (a.count > 0) {
        out_ += '[';
        operands(n, 0, a.count, "");
        out_ += ']';
      }
      out_ += ' ';
      text(a.detail);
      in_brackets(n, a.count);
      types(n);
      break;
    case op::assert_:
      operands(n, 0, count, " ");
      out_ += ", ";
      text(a.text());
      break;
    case op::loop:
      if (a.is_reversed()) out_ += " reversed";
      operands(n, 0, std::min(count, 1u), " ");
      loop_head(n, 1);
      break;
    case op::while_:
      loop_head(n, 0);
      break;
    case op::map:
      operands(n, 0, count, " ");
      first_region_arguments(n, count, 0);
      list(
          results, [&](value_id v) { return row_type(f.type_of(v)); }, " -> ");
      break;
    case op::reduce: {
      std::uint32_t const arrays = a.is_started() ? count / 2 : count;
      if (a.is_in_order()) out_ += " in_order";
      if (a.operation != op::none) {
        out_ += ' ';
        out_ += ir::name_of(a.operation);
      }
      if (a.is_in_lanes()) out_ += " in_lanes";
      operands(n, 0, arrays, " ");
      if (a.is_started()) {
        out_ += " from";
        operands(n, arrays, count, " ");
      }
      if (node.region_count == 0) {
        types(n);
        break;
      }
      first_region_arguments(n, count, 0);
      arrow(n);
      break;
    }
    case op::accumulate:
      first_region_arguments(n, 0, 0);
      arrow(n);
      break;
    case op::if_:
    case op::protect:
      operands(n, 0, count, " ");
      first_region_arguments(n, count, 0);
      arrow(n);
      break;
    default:
      operands(n, 0, count, " ");
      types(n);
    }
    places(node.place);
  }
  // Loop-carried values start as the operands from `first` on. After the arrow, the types of an iteration's values.
  void loop_head(node_id n, std::uint32_t first) {
    function const& f = *f_;
    first_region_arguments(n, first, first);
    id_range<value_id> const results = f.results_of(n);
    auto const all = static_cast<std::uint32_t>(results.size());
    std::uint32_t const carried = std::min(f[n].operand_count - std::min(f[n].operand_count, first), all);
    std::uint32_t const at = f[n].first_result;
    list(
        id_range<value_id>(at, carried), [&](value_id v) { return f.type_of(v); }, " -> ");
    list(
        id_range<value_id>(at + carried, all - carried), [&](value_id v) { return row_type(f.type_of(v)); },
        " stack ");
  }
  static type row_type(type t) { return t.is_array() ? t.element_type() : type(); }

  // ---- arguments
  void first_region_arguments(node_id n, std::uint32_t operand, std::uint32_t first) {
    if ((*f_)[n].region_count > 0) region_arguments(f_->region_at(n, 0), first, n, operand);
  }
  void region_arguments(region_id r, std::uint32_t first, node_id n, std::uint32_t operand) {
    if (f_->arguments_of(r).empty()) return;
    out_ += " (";
    arguments(r, first, n, operand);
    out_ += ')';
  }
  // The arguments from the first-th on, with the operands of n from `operand` on as initial values.
  void arguments(region_id r, std::uint32_t first, node_id n, std::uint32_t operand) {
    id_range<value_id> const all = f_->arguments_of(r);
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      if (i > 0) out_ += ", ";
      define(all[i]);
      out_ += ": ";
      append_type(out_, p_, f_->type_of(all[i]));
      if (n == nothing || i < first || operand >= (*f_)[n].operand_count) continue;
      out_ += " = ";
      value(f_->operand(n, operand++));
    }
  }

  // ---- operands
  void operands(node_id n, std::uint32_t first, std::uint32_t last, std::string_view before) {
    for (std::uint32_t i = first; i < std::min(last, (*f_)[n].operand_count); ++i) {
      out_ += i == first ? before : ", ";
      value(f_->operand(n, i));
    }
  }
  void in_brackets(node_id n, std::uint32_t first) {
    out_ += '(';
    operands(n, first, (*f_)[n].operand_count, "");
    out_ += ')';
  }
  void value(value_id v) {
    function::value const& x = (*f_)[v];
    if (x.from == origin::literal)
      append_literal(out_, x.type, f_->bits_of(v));
    else
      label(v);
  }
  void label(value_id v) {
    std::uint32_t const number = labels_[index_of(v)];
    out_ += '%';
    if (number == named)
      out_ += p_.text((*f_)[v].name);
    else if (number == unlabelled) // the verifier rejects it
      out_ += '?';
    else
      append_number(out_, number);
  }
  // The value's own name, if it is an identifier and unique in the function; else the next number.
  void define(value_id v) {
    symbol const name = (*f_)[v].name;
    bool free = name != nothing && is_identifier(p_.text(name));
    if (free) {
      if (index_of(name) >= taken_.size()) taken_.resize(p_.symbol_count());
      free = taken_[index_of(name)] != stamp_;
      taken_[index_of(name)] = stamp_;
    }
    labels_[index_of(v)] = free ? named : next_number_++;
    label(v);
  }

  // ---- types
  void types(node_id n) {
    id_range<value_id> const results = f_->results_of(n);
    for (std::size_t i = 0; i < results.size(); ++i) {
      out_ += i == 0 ? " : " : ", ";
      append_type(out_, p_, f_->type_of(results[i]));
    }
  }
  void arrow(node_id n) {
    list(
        f_->results_of(n), [&](value_id v) { return f_->type_of(v); }, " -> ");
  }
  void arrow(std::vector<type> const& all) {
    list(
        all, [](type t) { return t; }, " -> ");
  }
  // Prints a list of types, in parentheses unless it is a single type that is not a function type or an array of functions.
  template <class List, class Type>
  void list(List const& all, Type type_at, std::string_view before) {
    if (all.empty()) return;
    out_ += before;
    bool const brackets = all.size() != 1 || type_at(all[0]).element == scalar::function;
    if (brackets) out_ += '(';
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i > 0) out_ += ", ";
      append_type(out_, p_, type_at(all[i]));
    }
    if (brackets) out_ += ')';
  }

  // ---- names, texts, places
  void name_of(function_id f) {
    out_ += '@';
    if (index_of(f) >= p_.functions.size() || p_.is_erased(f)) { // the verifier rejects it
      out_ += '?';
      return;
    }
    std::string_view const name = p_.name_of(f);
    if (is_identifier(name))
      out_ += name;
    else
      append_quoted(out_, name);
  }
  void text(symbol s) { append_quoted(out_, s == nothing ? std::string_view() : p_.text(s)); }
  void places(place_id at) {
    if (!options_.places) return;
    for (std::string_view before = " at "; at != nothing; at = p_[at].next, before = ", ") {
      place const& x = p_[at];
      out_ += before;
      text(x.file);
      out_ += ':';
      append_number(out_, x.line);
      if (x.column == 0) continue;
      out_ += ':';
      append_number(out_, x.column);
    }
  }

  program const& p_;
  print_options options_;
  std::string out_;
  function const* f_ = nullptr;
  std::vector<std::uint32_t> labels_; // for each value: a number, or `named`
  std::uint32_t next_number_ = 0;
  std::vector<std::uint32_t> taken_; // for each symbol: the function whose value has this name
  std::uint32_t stamp_ = 0;
};

} // namespace detail

std::string print(program const& p, print_options const& options) {
  detail::printer out(p, options);
  out.print_program();
  return out.take();
}

std::string print(program const& p, function_id f, print_options const& options) {
  detail::printer out(p, options);
  out.print_function(f);
  return out.take();
}

} // namespace overdub::ir
