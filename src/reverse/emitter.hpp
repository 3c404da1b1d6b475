// What the parts of the backward pass share: the function that they write, and copies of primal code in it.
#pragma once

#include <overdub/implementation/reverse/callee_properties.hpp>
#include <overdub/implementation/reverse/primal_copy.hpp>
#include <overdub/ir/builder.hpp>
#include <overdub/reverse/gradient_program.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace overdub::adjoint {

/// A function to which its adjoint is appended, and what is known of it.
struct adjoint_code {
  ir::program& program;
  function_id of; // the function that is differentiated
  ir::cursor at;  // in the function that is written
  activity& known;
  callee_properties const& callees;
};

/// Appends the adjoints of operations, from the last to the first (writer.hpp).
using reverse_all = std::function<void(std::vector<node_id> const&)>;

/// Emits at the cursor. The parts of the backward pass derive from it, and share the code that they are constructed with.
class emitter {
public:
  using values = std::vector<value_id>;

  explicit emitter(adjoint_code& code)
      : p_(code.program), of_(code.of), at_(code.at), activity_(code.known), callees_(code.callees) {}

protected:
  function const& f() const { return *at_; }
  ir::builder build() { return ir::builder(at_); }
  ir::region_flow flow(node_id n) const { return {f(), n}; }
  ir::type type_of(value_id v) const { return f().type_of(v); }
  values results_of(node_id n) const {
    auto const all = f().results_of(n);
    return {all.begin(), all.end()};
  }
  value_id insert(op code, values const& operands, ir::type result) {
    return f().result(at_.insert(code, operands, std::span<ir::type const>(&result, 1)));
  }
  value_id index(std::int64_t i) { return at_.literal(i); }
  value_id zero(ir::type t) { return at_.literal(t, 0); }
  value_id varying(value_id v, bool does) {
    activity_.set(v, does);
    return v;
  }
  primal_copy copy(region_id r, clone_map& map);
  primal_copy copy_iteration(node_id n, value_id iteration, values const& carried);
  std::size_t erase_unused(std::vector<node_id> const& nodes);
  std::size_t sweep(primal_copy const& r);
  ir::attributes opposite_of(node_id n) const;
  void note_residuals(
      function::node const& of, bool in_each_iteration, std::vector<std::string> const& saved,
      std::size_t operations, std::vector<std::string> const& restored = {});
  [[noreturn]] void refuse(node_id n, std::string const& why) const;

  ir::program& p_;
  function_id of_;
  ir::cursor& at_;
  activity& activity_;
  callee_properties const& callees_;
};

} // namespace overdub::adjoint
