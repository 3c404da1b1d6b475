// Runs the analysis of a program, and describes its findings in the order of the program. Adds findings on whole functions:
// unreachable regions, unused results.
#pragma once

#include <overdub/check/bounds.hpp>
#include <overdub/check/report.hpp>
#include <overdub/implementation/check/analysis.hpp>
#include <overdub/io/number_text.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/ir/effects.hpp>
#include <overdub/ir/print.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace overdub {
namespace checking {

class reporter {
public:
  reporter(ir::program const& p, std::vector<bounds> const& inputs, long steps) : p_(p), analysis_(p, steps) {
    if (p.entry == ir::nothing) throw argument_error(message("overdub: check: the program has no entry"));
    analysis_.run(p.entry, arguments(inputs));
  }

  check_report report() {
    check_report r;
    std::vector<finding> all = std::move(analysis_.findings);
    add_whole(all);
    // Findings of the entry come first; those of one operation are in the order in which they were found.
    std::vector<std::tuple<bool, std::uint32_t, std::uint32_t, std::size_t>> order;
    for (finding const& x : all)
      order.emplace_back(x.function != p_.entry, index_of(x.function), position(x), order.size());
    std::sort(order.begin(), order.end());
    for (auto const& each : order) r.findings.push_back(std::move(all[std::get<3>(each)]));
    describe(r.findings);
    return r;
  }
  analysis const& found() const { return analysis_; }

private:
  using node_id = ir::node_id;
  using function_id = ir::function_id;

  values arguments(std::vector<bounds> const& inputs) const {
    ir::function const& f = p_[p_.entry];
    if (!inputs.empty() && inputs.size() != f.parameters().size())
      throw argument_error(message(
          "overdub: check: the function has %zu parameters, and %zu inputs are given", f.parameters().size(),
          inputs.size()));
    values all;
    for (std::size_t i = 0; i < f.parameters().size(); ++i) {
      ir::type const t = f.type_of(f.parameters()[i]);
      if (!inputs.empty() && inputs[i].what.type != t)
        throw argument_error(message("overdub: check: input %zu has another type than the parameter", i + 1));
      all.push_back(inputs.empty() ? finite(t) : inputs[i].what);
    }
    return all;
  }

  static constexpr std::string_view region_name(ir::op code, std::uint32_t i) {
    return code == ir::op::if_ ? i == 0 ? "the first branch" : "the second branch" : "the body";
  }
  // Unreachable regions and unused results of each reachable function.
  void add_whole(std::vector<finding>& all) const {
    ir::effects const effects(p_);
    for (std::uint32_t i = 0; i < p_.functions.size(); ++i) {
      function_id const id{i};
      ir::function const& f = p_.functions[i];
      if (p_.is_erased(id) || !analysis_.is_reached(id, ir::function::body)) continue;
      ir::walk(f, ir::function::body, [&](node_id n) {
        if (!analysis_.is_reached(id, n)) return;
        ir::op const code = f[n].code;
        std::string const name(name_of(code));
        if (code != ir::op::reduce)
          for (std::uint32_t k = 0; k < f[n].region_count; ++k)
            if (!analysis_.is_reached(id, f.region_at(n, k)))
              add(all, finding_kind::unreachable, id, n,
                  std::string(region_name(code, k)) + " of " + name + " never runs", k);
        bool used = f[n].result_count == 0;
        for (ir::value_id const v : f.results_of(n)) used = used || f.is_used(v);
        if (!used && effects.of(f, n).can_merge())
          add(all, finding_kind::unused, id, n, "the result of " + name + " is not used");
      });
    }
  }
  static void
  add(std::vector<finding>& all, finding_kind kind, function_id f, node_id n, std::string what,
      std::uint32_t region = 0) {
    finding x;
    x.kind = kind;
    x.how = severity::certain;
    x.each_time = true;
    x.function = f;
    x.node = n;
    x.region = region;
    x.what = std::move(what);
    all.push_back(std::move(x));
  }

  // The position of an operation in the text of its function.
  std::uint32_t position(finding const& x) {
    auto& positions = positions_of(x.function);
    return positions[index_of(x.node)];
  }
  std::vector<std::uint32_t>& positions_of(function_id id) {
    positions_.resize(p_.functions.size());
    auto& all = positions_[index_of(id)];
    if (all.empty()) {
      ir::function const& f = p_[id];
      all.resize(f.node_count());
      std::uint32_t next = 0;
      ir::walk(f, ir::function::body, [&](node_id n) { all[index_of(n)] = next++; });
    }
    return all;
  }
  void describe(std::vector<finding>& all) {
    if (all.empty()) return;
    // Assigns each operation its own source location, by which the printed text identifies its line.
    ir::program numbered = p_;
    std::vector<std::vector<std::string>> lines(p_.functions.size());
    for (finding& x : all) {
      auto& of_function = lines[index_of(x.function)];
      if (of_function.empty()) of_function = lines_of(numbered, x.function);
      x.operation = of_function[index_of(x.node)];
      x.where = text_of(p_, p_[x.function][x.node].place);
      x.in = called(p_, x.function);
      for (std::size_t i = x.path.size(); i-- > 0;) {
        x.in.append(", called by ").append(called(p_, x.path[i].function));
        std::string const at = text_of(p_, p_[x.path[i].function][x.path[i].call].place);
        if (!at.empty()) x.in.append(" at ").append(at);
      }
    }
  }
  static std::vector<std::string> lines_of(ir::program& p, function_id id) {
    std::vector<std::string> lines(p[id].node_count());
    std::vector<node_id> all;
    ir::walk(p[id], ir::function::body, [&](node_id n) { all.push_back(n); });
    ir::cursor c(p, id);
    for (node_id const n : all) c.set_place_of(n, p.add_place("operation", index_of(n) + 1));
    std::string const text = ir::print(p, id, {.places = true});
    constexpr std::string_view marker = " at \"operation\":";
    for (std::size_t begin = 0; begin < text.size();) {
      std::size_t const end = std::min(text.find('\n', begin), text.size());
      std::string_view line = std::string_view(text).substr(begin, end - begin);
      begin = end + 1;
      std::size_t const at = line.rfind(marker);
      if (at == line.npos) continue;
      std::size_t n = 0;
      (void)io::parse_number(line.data() + at + marker.size(), line.data() + line.size(), n);
      line = line.substr(0, at);
      line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
      lines[n - 1] = std::string(line);
    }
    return lines;
  }

  ir::program const& p_;
  analysis analysis_;
  std::vector<std::vector<std::uint32_t>> positions_;
};

} // namespace checking
} // namespace overdub
