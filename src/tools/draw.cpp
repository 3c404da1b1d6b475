#include "draw.hpp"

#include "failure.hpp"

#include <overdub/call/utf8.hpp>
#include <overdub/implementation/ir/keywords.hpp>
#include <overdub/implementation/ir/literal.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/ir/regions.hpp>
#include <overdub/ir/type_text.hpp>
#include <overdub/ir/walk.hpp>

#include <optional>
#include <set>
#include <vector>

namespace overdub::tools {
namespace {

// Builds the text of a graph.
class graph_text {
public:
  graph_text(std::string_view name) {
    out_ = "digraph " + quoted(name) +
           " {\n  graph [fontname=monospace, fontsize=10, labeljust=l, style=rounded, color=gray]\n"
           "  node [shape=box, fontname=monospace, fontsize=10, height=0.3, margin=\"0.08,0.04\"]\n"
           "  edge [arrowsize=0.6]\n";
  }
  std::string take() { return std::move(out_) + edges_ + "}\n"; }

  void node(std::string const& id, std::string_view label, std::string_view more = "") {
    line(id + " [label=" + quoted(label) + std::string(more) + ']');
  }
  void edge(std::string const& from, std::string const& to, std::string_view more = "") {
    // At the end: an edge inside of a cluster would move its source into the cluster.
    edges_ += "  " + from + " -> " + to + std::string(more) + '\n';
  }
  void open(std::string const& id, std::string_view label) {
    line("subgraph cluster_" + id + " {");
    ++depth_;
    line("label=" + quoted(label));
  }
  void close() {
    --depth_;
    line("}");
  }

private:
  static std::string quoted(std::string_view text) {
    std::string all = "\"";
    detail::for_each_character(text, [&](std::uint32_t point, std::string_view bytes) {
      if (point == '"' || point == '\\') all += '\\';
      if (detail::is_control(point) && point != '\n')
        all += ' ';
      else
        all += bytes;
    });
    return all + '"';
  }
  void line(std::string const& text) { out_.append(2 * depth_, ' ').append(text).append(1, '\n'); }

  std::string out_;
  std::string edges_;
  std::size_t depth_ = 1;
};

constexpr std::string_view round_shape = ", shape=ellipse";
constexpr std::string_view dashed_line = " [style=dashed]";

// The data dependence of a function. An operation with regions is a cluster, whose first node takes the operands; yielded
// values go to a node after the cluster.
class dependence_drawing {
public:
  dependence_drawing(ir::program const& p, ir::function_id id) : p_(p), f_(p[id]), out_(p.name_of(id)) {}

  std::string run() {
    names_.resize(f_.value_count());
    arguments(ir::function::body);
    region(ir::function::body);
    return out_.take();
  }

private:
  // ---- names of values, as printed
  void define(ir::value_id v) {
    ir::symbol const name = f_[v].name;
    bool const own = name != ir::nothing && ir::is_identifier(p_.text(name)) && taken_.insert(name).second;
    names_[index_of(v)] = '%' + (own ? std::string(p_.text(name)) : std::to_string(next_number_++));
  }
  std::string text_of(ir::value_id v) const {
    if (!f_.is_literal(v)) return names_[index_of(v)];
    std::string text;
    ir::append_literal(text, f_.type_of(v), f_.bits_of(v));
    return text;
  }
  template <class Values>
  std::string list(Values const& values) const {
    std::string text;
    for (ir::value_id const v : values) text += (text.empty() ? "" : ", ") + text_of(v);
    return text;
  }

  // ---- nodes
  static std::string id_of(ir::node_id n) { return 'n' + std::to_string(index_of(n)); }
  static std::string results_id(ir::node_id n) { return 'r' + std::to_string(index_of(n)); }
  // The node that defines a value.
  std::string source(ir::value_id v) const {
    if (f_.is_argument(v)) return 'v' + std::to_string(index_of(v));
    ir::node_id const n = f_.node_of(v);
    return f_[n].region_count > 0 ? results_id(n) : id_of(n);
  }
  void arguments(ir::region_id r) {
    for (ir::value_id const v : f_.arguments_of(r)) {
      define(v);
      out_.node(source(v), text_of(v) + ": " + ir::text_of(p_, f_.type_of(v)), round_shape);
    }
  }
  std::string label(ir::node_id n) const {
    ir::function::node const& node = f_[n];
    std::string text;
    if (node.region_count == 0 && !f_.results_of(n).empty()) text = list(f_.results_of(n)) + " = ";
    text += node.code == ir::op::yield && node.parent == ir::function::body ? "return" : name_of(node.code);
    ir::attributes const& a = node.attributes;
    auto const add_quoted = [&] {
      text += ' ';
      ir::append_quoted(text, p_.text(a.text()));
    };
    if (node.code == ir::op::call || node.code == ir::op::closure)
      text += (a.is_exempt() ? " exempt @" : " @") + std::string(p_.name_of(a.callee()));
    else if (node.code == ir::op::host || node.code == ir::op::sample || node.code == ir::op::assert_)
      add_quoted();
    else if (node.code == ir::op::reduce && a.operation != ir::op::none)
      text += ' ' + std::string(name_of(a.operation));
    else if (ir::is_counted_loop(node.code) && a.is_reversed())
      text += " reversed";
    if (std::string const operands = list(f_.operands_of(n)); !operands.empty()) text += ' ' + operands;
    return text;
  }
  void region(ir::region_id r) {
    for (ir::node_id const n : f_.nodes_of(r)) {
      for (ir::value_id const v : f_.results_of(n)) define(v);
      if (f_[n].region_count > 0)
        frame(n);
      else
        out_.node(id_of(n), label(n), f_[n].code == ir::op::yield ? ", style=rounded" : "");
      for (ir::value_id const v : f_.operands_of(n))
        if (!f_.is_literal(v)) out_.edge(source(v), id_of(n));
      if (f_[n].code == ir::op::add_to)
        out_.edge(id_of(n), id_of(f_.yield_of(f_.region_of(f_.operand(n, 0)))), dashed_line);
    }
  }
  void frame(ir::node_id const n) {
    ir::op const code = f_[n].code;
    out_.open(id_of(n), "");
    out_.node(id_of(n), label(n), ", style=bold");
    std::uint32_t const count = f_[n].region_count;
    for (std::uint32_t i = 0; i < count; ++i) {
      ir::region_id const r = f_.region_at(n, i);
      std::string const of = code == ir::op::if_ && i == 0 ? "then"
                             : count < 2                   ? ""
                             : i == 0                      ? (code == ir::op::while_ ? "while" : "protect")
                                      : std::string(ir::detail::second_region_word(code));
      if (count > 1) out_.open(id_of(n) + '_' + std::to_string(i), of);
      arguments(r);
      region(r);
      if (count > 1) out_.close();
      for (ir::value_id const v : f_.arguments_of(r)) out_.edge(id_of(n), source(v));
      if (f_.arguments_of(r).empty()) out_.edge(id_of(n), id_of(f_[r].first), dashed_line);
    }
    out_.close();
    if (f_.results_of(n).empty()) return;
    out_.node(results_id(n), list(f_.results_of(n)), round_shape);
    for (std::uint32_t i = 0; i < count; ++i) {
      if (ir::region_flow(f_, n).yields_results(f_.region_at(n, i)))
        out_.edge(id_of(f_.yield_of(f_.region_at(n, i))), results_id(n));
    }
  }

  ir::program const& p_;
  ir::function const& f_;
  graph_text out_;
  std::vector<std::string> names_;
  std::set<ir::symbol> taken_;
  std::uint32_t next_number_ = 0;
};

// The call graph, with an edge for each pair of caller and callee; dashed if the caller only creates a function value.
std::string drawing_of_calls(ir::program const& p) {
  graph_text out("calls");
  for (std::uint32_t i = 0; i < p.functions.size(); ++i) {
    ir::function_id const caller{i};
    if (p.is_erased(caller)) continue;
    std::string const id = 'f' + std::to_string(i);
    out.node(id, '@' + std::string(p.name_of(caller)), caller == p.entry ? ", style=bold" : "");
    std::set<std::uint32_t> called, made;
    ir::function const& f = p[caller];
    walk(f, ir::function::body, [&](ir::node_id n) {
      if (f[n].code == ir::op::call) called.insert(index_of(f[n].attributes.callee()));
      if (f[n].code == ir::op::closure) made.insert(index_of(f[n].attributes.callee()));
    });
    for (std::uint32_t const callee : called) out.edge(id, 'f' + std::to_string(callee));
    for (std::uint32_t const callee : made) out.edge(id, 'f' + std::to_string(callee), dashed_line);
  }
  return out.take();
}

std::optional<ir::function_id> only_function(ir::program const& p) {
  std::optional<ir::function_id> only;
  for (std::uint32_t i = 0; i < p.functions.size(); ++i) {
    if (p.is_erased(ir::function_id{i})) continue;
    if (only) return {};
    only = ir::function_id{i};
  }
  return only;
}

} // namespace

std::string graph_of(ir::program const& p, std::string_view name) {
  if (name == "calls") return drawing_of_calls(p);
  std::optional<ir::function_id> f;
  if (name.empty())
    f = p.entry != ir::nothing ? p.entry : only_function(p);
  else if (name.starts_with('@'))
    f = p.find(name.substr(1));
  if (f) return dependence_drawing(p, *f).run();
  if (name.empty()) return drawing_of_calls(p);
  throw failure(
      exit_code::usage, "overdub-opt: there is no graph " + std::string(name) +
                            "; name a function of the program, as in @f, or write calls");
}

} // namespace overdub::tools
