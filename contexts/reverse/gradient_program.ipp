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
  if (f()[n].region_count > 0) sums_.settle(results_of(n));
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
    w.drop_unused();
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

namespace adjoint {

// What is not needed, or there twice, needs no adjoint. Nothing is moved out of loops that may not run: its derivative may be
// infinite where it is not needed.
inline void prepare(ir::program& p) {
  pass::inline_calls(p);
  for (char const* const name : {"fold", "simplify", "cse", "fuse", "simplify", "cse", "dce"})
    (void)pass::find_pass(name)->run(p);
}

// A new entry around the gradient of a program's entry: what is written of it, and what its calls give.
class entry_writer {
public:
  // It has the parameters of the old entry, and these behind them.
  entry_writer(ir::program& p, std::string const& suffix, std::vector<ir::type> const& more)
      : p_(p), original_(p.entry), made_(add(suffix, more)), at_(p, made_, function::body) {
    for (value_id const v : p[made_].parameters()) parameters_.push_back(v);
  }

  ir::cursor& at() { return at_; }
  value_id parameter(std::size_t i) const { return parameters_[i]; }
  function const& original() const { return p_[original_]; }
  ir::type type_of_input(std::size_t i) const {
    return original().type_of(original().argument(function::body, static_cast<std::uint32_t>(i)));
  }
  std::size_t inputs() const { return original().parameters().size(); }

  /// The value, where it is kept, and the derivatives by what is asked for; 0, or an empty array, in the place of those that are
  /// none.
  std::vector<value_id>
  gradient(std::vector<bool> const& asked, std::vector<value_id> const& cotangents, bool keeps_value) {
    gradient_request wanted;
    wanted.keeps_results = keeps_value;
    for (ir::type const t : original().results) wanted.results.push_back(is_differentiable(t));
    for (std::size_t i = 0; i < inputs(); ++i)
      wanted.inputs.push_back(asked[i] && is_differentiable(type_of_input(i)));
    function_id const gradient = add_gradient(p_, original_, wanted);
    std::vector<value_id> operands(
        parameters_.begin(), parameters_.begin() + static_cast<std::ptrdiff_t>(inputs()));
    operands.insert(operands.end(), cotangents.begin(), cotangents.end());
    node_id const call = at_.insert(op::call, operands, p_[gradient].results, ir::attributes::of(gradient));
    std::vector<value_id> all;
    std::uint32_t next = 0;
    if (keeps_value)
      while (next < original().results.size()) all.push_back(at_->result(call, next++));
    for (std::size_t i = 0; i < inputs(); ++i)
      if (asked[i]) all.push_back(wanted.inputs[i] ? at_->result(call, next++) : none(type_of_input(i)));
    return all;
  }
  value_id one(ir::type t) { return t == ir::f32 ? at_.literal(1.0f) : at_.literal(1.0); }

  void finish(std::vector<value_id> const& results) {
    at_.to_end(function::body);
    at_.yield(results);
    for (value_id const v : results) p_[made_].results.push_back(at_->type_of(v));
    p_.entry = made_;
    pass::inline_calls(p_);
    pass::dce(p_);
  }

private:
  function_id add(std::string const& suffix, std::vector<ir::type> const& more) {
    std::vector<ir::type> parameters;
    for (value_id const v : p_[original_].parameters()) parameters.push_back(p_[original_].type_of(v));
    parameters.insert(parameters.end(), more.begin(), more.end());
    std::string name = std::string(p_.name_of(original_)) + suffix;
    while (p_.find(name)) name += '\'';
    function_id const made = p_.add(name, parameters);
    p_[made].place = p_[original_].place;
    return made;
  }
  value_id none(ir::type t) {
    if (t.rank == 0) return at_.literal(t, 0);
    return at_->result(at_.insert(op::array, {}, std::span<ir::type const>(&t, 1)));
  }

  ir::program& p_;
  function_id original_, made_;
  ir::cursor at_;
  std::vector<value_id> parameters_;
};

} // namespace adjoint

OVERDUB_DECL void differentiate_entry(ir::program& p, std::vector<bool> const& asked, bool keeps_value) {
  adjoint::prepare(p);
  adjoint::entry_writer w(p, keeps_value ? ".and_slopes" : ".slopes", {});
  w.finish(w.gradient(asked, {w.one(w.original().results[0])}, keeps_value));
}

OVERDUB_DECL void transpose_entry(ir::program& p) {
  adjoint::prepare(p);
  std::vector<ir::type> cotangents;
  for (ir::type const t : p[p.entry].results)
    cotangents.push_back(t); // of integers, too: they are not looked at
  adjoint::entry_writer w(p, ".transposed", cotangents);
  std::vector<ir::value_id> given;
  for (std::size_t i = 0; i < cotangents.size(); ++i)
    if (adjoint::is_differentiable(cotangents[i])) given.push_back(w.parameter(w.inputs() + i));
  w.finish(w.gradient(std::vector<bool>(w.inputs(), true), given, false));
}

OVERDUB_DECL void take_jacobian(ir::program& p) {
  using namespace adjoint;
  prepare(p);
  function_id const original = p.entry;
  ir::type const of_result = p[original].results[0];
  entry_writer w(p, ".jacobian", {});
  ir::cursor& at = w.at();
  value_id const x = w.parameter(0);
  node_id const value = at.insert(
      op::call, std::span<value_id const>(&x, 1), p[original].results, ir::attributes::of(original));
  value_id const size = at.add(op::length, at->result(value));
  ir::type const row = at->type_of(x), rows = row.array_of();
  std::vector<ir::type> const index[] = {{ir::i64}};
  node_id const map =
      at.insert(op::map, std::span<value_id const>(&size, 1), std::span<ir::type const>(&rows, 1), {}, index);
  at.to_end(at->region_at(map, 0));
  value_id const zeros = at.add(op::fill, size, at.literal(of_result.element_type(), 0));
  value_id const unit =
      at.add(op::update, zeros, at->argument(at->region_at(map, 0), 0), w.one(of_result.element_type()));
  at.yield(w.gradient({true}, {unit}, false));
  w.finish({at->result(map)});
}

} // namespace overdub::contexts
