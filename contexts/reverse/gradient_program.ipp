#pragma once

#include <overdub/contexts/reverse/gradient_program.hpp>
#include <overdub/contexts/reverse/writer_control.hpp>
#include <overdub/contexts/reverse/writer_data.hpp>
#include <overdub/contexts/reverse/writer_keep.hpp>
#include <overdub/contexts/reverse/writer_reduce.hpp>
#include <overdub/pass/pipeline.hpp>

#include <algorithm>
#include <utility>

namespace overdub::contexts {
namespace adjoint {

inline void writer::refuse(node_id n, std::string const& why) const {
  std::string const function(p_.name_of(at_.id()));
  ir::place_id const at = f()[n].place;
  std::string where;
  if (at != ir::nothing)
    where = " (" + std::string(p_.text(p_[at].file)) + ":" + std::to_string(p_[at].line) + ")";
  throw differentiation_error(message(
      "overdub: @%s: %s%s: %s", function.c_str(), std::string(name_of(f()[n].code)).c_str(), where.c_str(),
      why.c_str()));
}

inline writer::values writer::shares_of(node_id n) {
  values all;
  for (value_id const v : f().results_of(n))
    all.push_back(activity_.varies(v) ? sums_.take(v) : value_id(ir::nothing));
  return all;
}

inline void writer::back(node_id n) {
  op const code = f()[n].code;
  if (code == op::add_to) return add_to(n);
  values const shares = shares_of(n);
  bool const has_share =
      std::any_of(shares.begin(), shares.end(), [](value_id v) { return v != ir::nothing; });
  if (!has_share && !adds(n)) return;
  at_.set_place(f()[n].place);
  if (ir::is_elementwise(code)) {
    if (code == op::select && type_of(f().result(n)).rank > 0) return select_arrays(n, shares[0]);
    return elementwise(n, shares[0]);
  }
  if (data(n, shares.empty() ? value_id(ir::nothing) : shares[0])) return;
  switch (code) {
  case op::if_:
    return if_(n, shares);
  case op::loop:
  case op::while_:
    return loop(n, shares);
  case op::map:
    return map(n, shares);
  case op::reduce:
    return reduce(n, shares);
  case op::accumulate:
    return accumulate(n, shares);
  case op::protect:
    return once(n, shares, 0);
  case op::call:
    return call(n, shares);
  case op::host:
    refuse(
        n, "the host's function \"" + std::string(p_.text(f()[n].attributes.text())) +
               "\" has no derivative, and what it gives changes with what is differentiated by");
  case op::sample:
    refuse(n, "a random choice has no derivative; say what it is, and differentiate the density");
  default:
    refuse(n, "there is no derivative of it, and what it gives changes with what is differentiated by");
  }
}

// The gradients of a program's functions.
class gradients {
public:
  explicit gradients(ir::program& p) : p_(p) {}

  function_id of(function_id f, gradient_request const& wanted) {
    for (auto const& known : known_)
      if (known.of == f && known.wanted == wanted) return known.made;
    function_id const made = declare(f, wanted);
    known_.push_back({f, wanted, made}); // before its body is written: it may call itself
    write(f, wanted, made);
    return made;
  }

private:
  struct entry {
    function_id of;
    gradient_request wanted;
    function_id made;
  };

  // Of several, which are asked for: nothing, where all that have derivatives are.
  static std::string
  choice(char const* what, std::vector<bool> const& asked, std::vector<ir::type> const& types) {
    std::string numbers;
    bool all = true;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      if (asked[i]) numbers.append(numbers.empty() ? "" : "_").append(std::to_string(i));
      all = all && asked[i] == is_differentiable(types[i]);
    }
    return all ? "" : what + numbers;
  }

  function_id declare(function_id f, gradient_request const& wanted) {
    std::string name(p_.name_of(f));
    name += wanted.keeps_results ? ".value_and_gradient" : ".gradient";
    std::vector<ir::type> parameters, results;
    for (value_id const v : p_[f].parameters()) parameters.push_back(p_[f].type_of(v));
    name += choice(".by", wanted.inputs, parameters) + choice(".of", wanted.results, p_[f].results);
    while (p_.find(name)) name += '\'';
    for (std::size_t i = 0; i < wanted.results.size(); ++i)
      if (wanted.results[i]) parameters.push_back(p_[f].results[i]);
    if (wanted.keeps_results) results = p_[f].results;
    for (std::uint32_t i = 0; i < wanted.inputs.size(); ++i)
      if (wanted.inputs[i]) results.push_back(p_[f].type_of(p_[f].argument(function::body, i)));
    function_id const made = p_.add(name, parameters);
    p_[made].results = std::move(results);
    p_[made].place = p_[f].place;
    return made;
  }

  void write(function_id f, gradient_request const& wanted, function_id made) {
    activity const original(p_[f], wanted.inputs);
    activity known(p_[made], std::vector<bool>(p_[made].parameters().size()));
    class from_original {
    public:
      from_original(activity const& of, activity& to) : of_(of), to_(to) {}
      auto find(value_id v) const { return map_.find(v); }
      auto end() const { return map_.end(); }
      void insert_or_assign(value_id v, value_id copy) {
        map_.insert_or_assign(v, copy);
        to_.set(copy, of_.varies(v));
      }

    private:
      activity const& of_;
      activity& to_;
      value_map<value_id> map_;
    } map(original, known);
    auto const inputs = static_cast<std::uint32_t>(wanted.inputs.size());
    for (std::uint32_t i = 0; i < inputs; ++i)
      map.insert_or_assign(p_[f].argument(function::body, i), p_[made].argument(function::body, i));

    writer w(p_, made, known, [this](function_id callee, gradient_request const& of) {
      return this->of(callee, of);
    });
    w.at().clone_contents(f, function::body, map);
    node_id const end = p_[made].yield_of(function::body);
    std::vector<value_id> results;
    if (wanted.keeps_results)
      for (value_id const v : p_[made].operands_of(end)) results.push_back(v);
    std::vector<node_id> nodes;
    for (node_id const n : p_[made].nodes_of(function::body))
      if (n != end) nodes.push_back(n);
    std::uint32_t next = inputs;
    w.at().to_end(function::body);
    for (std::uint32_t i = 0; i < wanted.results.size(); ++i)
      if (wanted.results[i])
        w.sums().add(p_[made].operand(end, i), p_[made].argument(function::body, next++));
    w.reverse(nodes);
    // The copy of the yield followed what was put in the place of others.
    results.clear();
    if (wanted.keeps_results)
      for (value_id const v : p_[made].operands_of(end)) results.push_back(v);
    for (std::uint32_t i = 0; i < inputs; ++i) {
      if (!wanted.inputs[i]) continue;
      value_id const input = p_[made].argument(function::body, i);
      value_id const sum = w.sums().take(input);
      results.push_back(sum == ir::nothing ? w.sums().zeros_like(input) : sum);
    }
    w.at().erase(end);
    w.at().to_end(function::body);
    w.at().yield(results);
  }

  ir::program& p_;
  std::vector<entry> known_;
};

} // namespace adjoint

OVERDUB_DECL ir::function_id add_gradient(ir::program& p, ir::function_id f, gradient_request const& wanted) {
  return adjoint::gradients(p).of(f, wanted);
}

OVERDUB_DECL void differentiate_entry(ir::program& p, std::vector<bool> const& asked, bool keeps_value) {
  // What is not needed, or there twice, needs no adjoint.
  pass::inline_calls(p);
  for (char const* const name : {"fold", "simplify", "cse", "hoist", "fuse", "simplify", "cse", "dce"})
    (void)pass::find_pass(name)->run(p);

  ir::function_id const f = p.entry;
  gradient_request wanted{.inputs = {}, .results = {true}, .keeps_results = keeps_value};
  std::vector<ir::type> parameters;
  for (std::uint32_t i = 0; i < asked.size(); ++i) {
    parameters.push_back(p[f].type_of(p[f].argument(ir::function::body, i)));
    wanted.inputs.push_back(asked[i] && adjoint::is_differentiable(parameters.back()));
  }
  ir::function_id const gradient = add_gradient(p, f, wanted);

  std::string name(p.name_of(f));
  name += keeps_value ? ".and_gradient" : ".slopes";
  while (p.find(name)) name += '\'';
  ir::function_id const made = p.add(name, parameters);
  p[made].place = p[f].place;
  ir::cursor c(p, made, ir::function::body);
  std::vector<ir::value_id> operands;
  for (ir::value_id const v : p[made].parameters()) operands.push_back(v);
  operands.push_back(p[f].results[0] == ir::f32 ? c.literal(1.0f) : c.literal(1.0));
  ir::node_id const call =
      c.insert(ir::op::call, operands, p[gradient].results, ir::attributes::of(gradient));
  std::vector<ir::value_id> results;
  std::uint32_t next = 0;
  if (keeps_value) results.push_back(c->result(call, next++));
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (!asked[i]) continue;
    ir::type const t = parameters[i];
    if (wanted.inputs[i])
      results.push_back(c->result(call, next++));
    else if (t.rank == 0)
      results.push_back(c.literal(t, 0));
    else
      results.push_back(c->result(c.insert(ir::op::array, {}, std::span<ir::type const>(&t, 1))));
  }
  c.yield(results);
  for (ir::value_id const v : results) p[made].results.push_back(c->type_of(v));
  p.entry = made;
  pass::inline_calls(p);
  pass::dce(p);
}

} // namespace overdub::contexts
