// The gradient functions of a program. Each is generated once for each request: which inputs, and which results.
#pragma once

#include <overdub/call/stack_limit.hpp>
#include <overdub/implementation/reverse/captures.hpp>
#include <overdub/implementation/reverse/rule_call.hpp>
#include <overdub/implementation/reverse/split.hpp>
#include <overdub/implementation/reverse/writer.hpp>
#include <overdub/ir/type_text.hpp>
#include <overdub/reverse/gradient_program.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace overdub::adjoint {

class gradients {
public:
  gradients(ir::program& p, gradient_options const& options) : p_(p), callees_(p), options_(options) {
    if (options_.loops.kind == checkpointing::strategy::memory_limit)
      options_.loops.bytes /= std::max<std::int64_t>(outer_loops(), 1);
  }

  /// The function that takes a function's parameters, and cotangents of its results.
  function_id of(function_id f, gradient_request const& wanted) {
    for (generated const& known : generated_)
      if (known.of == f && known.wanted == wanted) return known.made;
    check_depth(f);
    function_id const made = declare(f, wanted);
    generated_.push_back({f, wanted, made}); // before its body is written: it may call itself
    if (p_[f].derivative.how != ir::derivative::by::body) {
      write_by_rule(f, wanted, made);
      return made;
    }
    write(f, wanted, made, [&](ir::cursor& at, node_id end, std::vector<value_id> const& cotangents) {
      std::vector<value_id> results;
      if (wanted.returns_results)
        for (value_id const v : at->operands_of(end)) results.push_back(v);
      results.insert(results.end(), cotangents.begin(), cotangents.end());
      at.erase(end);
      at.to_end(function::body);
      at.yield(results);
    });
    return made;
  }

  /// The adjoint of a call: a function that returns residuals, and one that consumes them. The residuals of a function
  /// whose gradient is still being generated (recursion) are not known: they become a function value, or the callee is
  /// recomputed.
  call_gradient of_call(function_id f, gradient_request wanted) {
    if (p_[f].derivative.how != ir::derivative::by::body) return by_rule(f, wanted);
    wanted.returns_results = true;
    for (call_record& known : calls_) {
      if (known.of != f || known.wanted != wanted) continue;
      if (known.gradient) return *known.gradient;
      if (options_.calls == recursion::saved) return recursive(known);
      return recomputed(f, wanted);
    }
    check_depth(f);
    call_record& made = calls_.emplace_back(call_record{f, wanted, declare(f, wanted), {}});
    node_id values_end{};
    write(
        f, wanted, made.combined, [&](ir::cursor& at, node_id end, std::vector<value_id> const& cotangents) {
          values_end = end;
          at.to_end(function::body);
          at.yield(cotangents);
        });
    auto const inputs = static_cast<std::uint32_t>(wanted.inputs.size());
    split const parts(p_, callees_, made.combined, values_end, inputs);
    std::string const name(p_.name_of(f));
    if (!parts.is_possible())
      throw differentiation_error(message(
          "overdub: @%s: the backward pass needs a value that can be neither saved nor recomputed, since it "
          "comes from outside of the program",
          name.c_str()));
    call_gradient& g = made.gradient.emplace();
    g.forward = parts.forward(unused_name(name + ".forward"));
    g.backward = parts.backward(unused_name(name + ".backward"));
    g.arguments = parts.arguments();
    g.saved = parts.saved();
    callees_.add(g.forward, f);
    std::string text = std::string(1, '@').append(name).append(": a call saves ");
    for (std::size_t i = 0; i < g.saved.size(); ++i)
      text.append(i > 0 ? ", " : "").append(ir::text_of(p_, g.saved[i]));
    p_.notes.push_back({g.saved.empty() ? text + "nothing" : text, p_[f].place});
    if (made.recursive != ir::nothing)
      parts.close_over(made.recursive, g.backward, p_[made.recursive].results.back());
    p_.erase(made.combined);
    return g;
  }

private:
  struct generated {
    function_id of;
    gradient_request wanted;
    function_id made;
  };
  struct call_record {
    function_id of;
    gradient_request wanted;
    function_id combined;
    std::optional<call_gradient> gradient; // when it is written
    function_id recursive = ir::nothing;   // called by recursive calls; its residuals are one function value
  };

  // Generating the gradient of a callee recurses from that of its caller.
  void check_depth(function_id f) const {
    if (limit_.is_reached())
      throw differentiation_error(message(
          "overdub: @%s: calls are nested too deep to be differentiated; inline some of them, or write a "
          "loop",
          std::string(p_.name_of(f)).c_str()));
  }

  // The number of counted loops that are nested in no other loop.
  std::int64_t outer_loops() const {
    std::int64_t all = 0;
    for (function const& f : p_.functions) {
      if (f.name == ir::nothing) continue;
      ir::walk(
          f, function::body, [&](node_id n) { all += ir::is_counted_loop(f[n].code) && !is_in_loop(f, n); });
    }
    return all;
  }

  call_gradient recomputed(function_id f, gradient_request wanted) {
    if (callees_.has_side_effects(f))
      throw differentiation_error(message(
          "overdub: @%s calls itself, and would be recomputed in the backward pass, since the program is "
          "differentiated again or split into its passes; but it has side effects, or may return something "
          "else then",
          std::string(p_.name_of(f)).c_str()));
    wanted.returns_results = false;
    call_gradient g;
    g.backward = of(f, wanted);
    for (std::uint32_t i = 0; i < wanted.inputs.size(); ++i) g.arguments.push_back(i);
    return g;
  }
  call_gradient recursive(call_record& c) {
    if (c.recursive == ir::nothing) {
      std::vector<ir::type> parameters;
      for (value_id const v : p_[c.of].parameters()) parameters.push_back(p_[c.of].type_of(v));
      c.recursive = p_.add(unused_name(std::string(p_.name_of(c.of)) + ".pullback"), parameters);
      std::vector<ir::type> results = p_[c.of].results;
      results.push_back(p_.function_type(
          {.parameters = cotangents_given(c.of, c.wanted), .results = cotangents_made(c.of, c.wanted)}));
      p_[c.recursive].results = std::move(results);
      callees_.add(c.recursive, c.of);
    }
    call_gradient g;
    g.forward = c.recursive;
    g.saved = {p_[c.recursive].results.back()};
    return g;
  }

  // A suffix for the name of a gradient: the indices that were requested, or nothing if all differentiable ones were.
  static std::string
  suffix_of(char const* what, std::vector<bool> const& requested, std::vector<ir::type> const& types) {
    std::string numbers;
    bool all = true;
    for (std::size_t i = 0; i < requested.size(); ++i) {
      if (requested[i]) numbers.append(numbers.empty() ? "" : "_").append(std::to_string(i));
      all = all && requested[i] == is_differentiable(types[i]);
    }
    return all ? "" : what + numbers;
  }
  std::string unused_name(std::string name) const {
    while (p_.find(name)) name += '\'';
    return name;
  }
  std::vector<ir::type> cotangents_given(function_id f, gradient_request const& wanted) const {
    std::vector<ir::type> types;
    for (std::size_t i = 0; i < wanted.results.size(); ++i)
      if (wanted.results[i]) types.push_back(p_[f].results[i]);
    return types;
  }
  std::vector<ir::type> cotangents_made(function_id f, gradient_request const& wanted) const {
    std::vector<ir::type> types;
    for (std::uint32_t i = 0; i < wanted.inputs.size(); ++i)
      if (wanted.inputs[i]) types.push_back(p_[f].type_of(p_[f].argument(function::body, i)));
    return types;
  }

  function_id declare(function_id f, gradient_request const& wanted) {
    std::string name(p_.name_of(f));
    name += wanted.returns_results ? ".value_and_gradient" : ".gradient";
    std::vector<ir::type> parameters, results;
    for (value_id const v : p_[f].parameters()) parameters.push_back(p_[f].type_of(v));
    name += suffix_of(".by", wanted.inputs, parameters) + suffix_of(".of", wanted.results, p_[f].results);
    for (ir::type const t : cotangents_given(f, wanted)) parameters.push_back(t);
    if (wanted.returns_results) results = p_[f].results;
    for (ir::type const t : cotangents_made(f, wanted)) results.push_back(t);
    function_id const made = p_.add(unused_name(std::move(name)), parameters);
    p_[made].results = std::move(results);
    p_[made].place = p_[f].place;
    return made;
  }

  // Writes the primal operations, a yield of the results, and the adjoint. `finish` gets the yield and the input
  // cotangents.
  template <class Finish>
  void write(function_id f, gradient_request const& wanted, function_id made, Finish const& finish) {
    activity const original(p_, f, wanted.inputs);
    activity known(p_[made]);
    class from_original {
    public:
      from_original(activity const& of, activity& to) : of_(of), to_(to) {}
      auto find(value_id v) const { return map_.find(v); }
      auto end() const { return map_.end(); }
      void insert_or_assign(value_id v, value_id copy) {
        map_.insert_or_assign(v, copy);
        to_.set(copy, of_.of(v));
      }

    private:
      activity const& of_;
      activity& to_;
      value_map<value_id> map_;
    } map(original, known);
    auto const inputs = static_cast<std::uint32_t>(wanted.inputs.size());
    for (std::uint32_t i = 0; i < inputs; ++i)
      map.insert_or_assign(p_[f].argument(function::body, i), p_[made].argument(function::body, i));

    adjoint_code code{p_, f, ir::cursor(p_, made, function::body), known, callees_};
    writer w(code, options_.loops, [this](function_id callee, gradient_request const& of) {
      return of_call(callee, of);
    });
    code.at.clone_contents(f, function::body, map);
    node_id const end = p_[made].yield_of(function::body);
    std::vector<node_id> nodes;
    for (node_id const n : p_[made].nodes_of(function::body))
      if (n != end) nodes.push_back(n);
    std::uint32_t next = inputs;
    code.at.to_end(function::body);
    for (std::uint32_t i = 0; i < wanted.results.size(); ++i)
      if (wanted.results[i])
        w.sums().add(p_[made].operand(end, i), p_[made].argument(function::body, next++));
    w.reverse(nodes);
    std::vector<value_id> cotangents;
    for (std::uint32_t i = 0; i < inputs; ++i) {
      if (!wanted.inputs[i]) continue;
      value_id const input = p_[made].argument(function::body, i);
      value_id const sum = w.sums().take(input);
      cotangents.push_back(sum == ir::nothing ? w.sums().zeros_like(input) : sum);
    }
    w.drop_unused();
    finish(code.at, end, cotangents);
  }

  // Writes calls of a function's derivative rule; the adjoint of its body is not needed.
  void
  write_by_rule(function_id f, gradient_request const& wanted, function_id made, bool takes_results = false) {
    ir::derivative const says = p_[f].derivative;
    if (says.how == ir::derivative::by::refused)
      throw differentiation_error(message(
          "overdub: @%s cannot be differentiated: %s", std::string(p_.name_of(f)).c_str(),
          std::string(p_.text(says.why)).c_str()));
    ir::cursor at(p_, made, function::body);
    rule_call call(p_, at, f, wanted, takes_results);
    std::vector<value_id> all, given;
    if (wanted.returns_results) all = call.results();
    if (says.how == ir::derivative::by::constant)
      given = call.constant();
    else if (says.cotangent != ir::nothing)
      given = call.cotangent(says.cotangent);
    else
      given = call.transposed(says.tangent, of(says.tangent, call.of_tangent()));
    all.insert(all.end(), given.begin(), given.end());
    at.to_end(function::body);
    at.yield(all);
  }
  // A rule that reads the results gets them from the call as arguments, so that the function is not called again.
  call_gradient by_rule(function_id f, gradient_request wanted) {
    wanted.returns_results = false;
    for (call_record const& known : calls_)
      if (known.of == f && known.wanted == wanted) return *known.gradient;
    check_depth(f);
    std::vector<ir::type> parameters;
    call_gradient g;
    for (value_id const v : p_[f].parameters()) {
      g.arguments.push_back(static_cast<std::uint32_t>(parameters.size()));
      parameters.push_back(p_[f].type_of(v));
    }
    g.takes_results = reads_results(f, wanted);
    if (g.takes_results)
      for (ir::type const t : p_[f].results) parameters.push_back(t);
    for (ir::type const t : cotangents_given(f, wanted)) parameters.push_back(t);
    g.backward = p_.add(unused_name(std::string(p_.name_of(f)) + ".by_rule"), parameters);
    p_[g.backward].results = cotangents_made(f, wanted);
    p_[g.backward].place = p_[f].place;
    calls_.push_back(call_record{f, wanted, g.backward, g});
    write_by_rule(f, wanted, g.backward, g.takes_results);
    return g;
  }
  // A cotangent rule also reads arrays without a cotangent: zeros get their shapes.
  bool reads_results(function_id f, gradient_request const& wanted) const {
    ir::derivative const& says = p_[f].derivative;
    if (says.cotangent != ir::nothing)
      for (std::uint32_t i = 0; i < wanted.results.size(); ++i)
        if (!wanted.results[i] && p_[f].results[i].rank > 0 && ir::is_differentiable(p_[f].results[i]))
          return true;
    function_id const rule = says.cotangent != ir::nothing ? says.cotangent : says.tangent;
    if (rule == ir::nothing) return false;
    for (std::uint32_t i = 0; i < p_[f].results.size(); ++i)
      if (p_[rule].is_used(p_[rule].argument(function::body, i))) return true;
    return false;
  }

  ir::program& p_;
  callee_properties callees_;
  gradient_options options_;
  overdub::detail::stack_limit limit_{std::size_t{2} << 20}; // frames of nested regions need the difference
  std::vector<generated> generated_;
  std::deque<call_record> calls_;
};

} // namespace overdub::adjoint
