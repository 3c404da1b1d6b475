// A function that is invalid does not cost the others.
#include "catch.hpp"

#include <overdub/implementation/lift/invalid.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/ir/verify.hpp>

#include <string>
#include <vector>

namespace {

namespace ir = overdub::ir;

ir::function_id add(ir::program& p, std::string const& name) {
  ir::function_id const f = p.add(name, std::vector<ir::type>{ir::f64});
  p[f].results = {ir::f64};
  return f;
}

} // namespace

TEST_CASE("functions that are invalid or not emitted are erased with their callers") {
  ir::program p;
  ir::function_id const good = add(p, "good"), bad = add(p, "bad"), missing = add(p, "missing"),
                        calls = add(p, "calls"), calls_caller = add(p, "calls_caller");
  auto const emit_call = [&](ir::function_id f, ir::function_id callee) {
    ir::cursor c(p, f, ir::function::body);
    ir::node_id const n = c.insert(
        ir::op::call, std::vector{c->argument(ir::function::body, 0)}, std::vector<ir::type>{ir::f64},
        ir::attributes::of(callee));
    c.yield(std::vector{c->result(n)});
  };
  emit_call(calls_caller, calls);
  emit_call(calls, bad);
  for (ir::function_id const f : {good, bad}) {
    ir::cursor c(p, f, ir::function::body);
    c.yield(std::vector{f == good ? c->argument(ir::function::body, 0) : c.literal(true)});
  }
  std::string names;
  for (overdub::refused_function const& f : overdub::lifting::erase_invalid(p, {{missing, "no reason"}}))
    names += f.name + ": " + f.construct + "; ";
  CHECK(
      names ==
      "missing: a construct that is lifted to an invalid program; bad: a construct that is lifted to an "
      "invalid program; calls: a call of bad; calls_caller: a call of calls; ");
  CHECK(p.find("good"));
  CHECK(!p.find("bad"));
  CHECK(ir::faults_of(p).empty());
}
