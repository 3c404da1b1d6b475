// The lifter: plans all functions of a module, and emits those that can be lifted.
#include "emit.hpp"
#include "plan.hpp"
#include "read.hpp"
#include "refusal.hpp"
#include "supported.hpp"
#include "values.hpp"

#include <overdub/ir/verify.hpp>
#include <overdub/lift.hpp>
#include <overdub/pass/dce.hpp>

#include <cerrno>
#include <cstring>
#include <deque>
#include <fstream>
#include <iterator>
#include <llvm/ADT/DenseSet.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <map>
#include <set>
#include <utility>

namespace overdub {
namespace lifting {
namespace {

// Functions in the order of the module, with the reasons of those that are refused.
class planner {
public:
  planner(llvm::Module const& m, lift_options const& o) : o_(o) {
    for (llvm::Function const& f : m)
      if (!f.isDeclaration()) functions_.push_back(&f);
  }

  void run() {
    for (llvm::Function const* f : functions_) guarded(*f, [&] { check_supported(*f); });
    plan_memory();
    for (llvm::Function const* f : functions_) guarded(*f, [&] { plan_control(*f); });
    refuse_callers();
    for (llvm::Function const* f : functions_) {
      if (refused_.contains(f)) continue;
      plan.number[f] = static_cast<std::uint32_t>(plan.functions.size());
      plan.functions.push_back(std::move(plans_[f]));
    }
  }

  module_plan plan;

  std::vector<refused_function> refused() const {
    std::vector<refused_function> all;
    for (llvm::Function const* f : functions_)
      if (auto const at = refused_.find(f); at != refused_.end()) all.push_back(described(*f, at->second));
    return all;
  }

private:
  template <class Plan>
  void guarded(llvm::Function const& f, Plan const& step) {
    if (refused_.contains(&f)) return;
    try {
      step();
    } catch (refusal& why) {
      refused_.emplace(&f, std::move(why));
    }
  }

  // Callees first, so that few functions are analysed twice.
  std::vector<llvm::Function const*> callees_first() const {
    std::vector<llvm::Function const*> order;
    llvm::DenseSet<llvm::Function const*> seen;
    for (llvm::Function const* root : functions_) {
      std::vector<std::pair<llvm::Function const*, bool>> pending{{root, false}};
      while (!pending.empty()) {
        auto const [f, is_done] = pending.back();
        pending.pop_back();
        if (is_done) {
          order.push_back(f);
          continue;
        }
        if (f->isDeclaration() || !seen.insert(f).second) continue;
        pending.emplace_back(f, true);
        for (llvm::Instruction const& i : llvm::instructions(*f))
          if (auto const* call = llvm::dyn_cast<llvm::CallBase>(&i))
            if (llvm::Function const* const callee = call->getCalledFunction())
              pending.emplace_back(callee, false);
      }
    }
    return order;
  }
  // The uses of parameters grow until they are those of all callees.
  void plan_memory() {
    std::vector<llvm::Function const*> const order = callees_first();
    std::deque<llvm::Function const*> pending(order.begin(), order.end());
    llvm::DenseSet<llvm::Function const*> waiting(order.begin(), order.end());
    while (!pending.empty()) {
      llvm::Function const* const f = pending.front();
      pending.pop_front();
      waiting.erase(f);
      guarded(*f, [&] {
        function_memory memory = analyse_memory(*f, plan.parameters, o_);
        bool const changed = update_uses(memory, plan.parameters);
        plans_[f].memory = std::move(memory);
        if (!changed) return;
        for (llvm::User const* u : f->users())
          if (auto const* call = llvm::dyn_cast<llvm::CallBase>(u))
            if (waiting.insert(call->getFunction()).second) pending.push_back(call->getFunction());
      });
    }
  }

  void plan_control(llvm::Function const& f) {
    function_plan& p = plans_[&f];
    p.function = &f;
    llvm::DenseMap<llvm::BasicBlock const*, std::uint32_t> number;
    for (llvm::BasicBlock const& b : f) {
      number[&b] = static_cast<std::uint32_t>(p.blocks.size());
      p.blocks.push_back(&b);
    }
    flow_graph g;
    for (llvm::BasicBlock const* b : p.blocks) {
      std::vector<std::uint32_t> next;
      for (llvm::BasicBlock const* s : llvm::successors(b)) next.push_back(number[s]);
      g.successors.push_back(std::move(next));
    }
    structured s = restructure(g, {.blocks = o_.blocks, .nesting = o_.nesting});
    if (!s.problem.empty()) {
      bool const is_endless = s.problem == "a loop without an exit";
      throw refusal{
          s.problem, is_endless ? "the function does not return from it" : "it exceeds a limit of the lifter",
          is_endless ? "end the loop by a condition"
                     : "divide the function, or raise the limits of lift_options",
          p.blocks[s.block]->getTerminator()};
    }
    p.tree = std::move(s.tree);
    p.headed = headed_loops(p.tree, p.blocks);
    p.variables = analyse_variables(f, p.memory, plan.parameters, p.tree, p.blocks, p.headed);
  }

  void refuse_callers() {
    std::vector<llvm::Function const*> pending;
    for (auto const& [f, why] : refused_) pending.push_back(f);
    for (std::size_t at = 0; at < pending.size(); ++at)
      for (llvm::User const* u : pending[at]->users()) {
        auto const* const call = llvm::dyn_cast<llvm::CallBase>(u);
        if (!call || call->getCalledFunction() != pending[at] || refused_.contains(call->getFunction()))
          continue;
        refused_.emplace(
            call->getFunction(), refusal{
                                     "a call of " + llvm::demangle(pending[at]->getName().str()),
                                     "that function is refused", "see its own line", call});
        pending.push_back(call->getFunction());
      }
  }

  static refused_function described(llvm::Function const& f, refusal const& why) {
    refused_function r{llvm::demangle(f.getName().str()), {}, 0, why.construct, why.why, why.instead};
    if (llvm::DILocation const* const at = why.at ? why.at->getDebugLoc().get() : nullptr) {
      r.file = at->getFilename().str();
      r.line = at->getLine();
    } else if (llvm::DISubprogram const* const s = f.getSubprogram()) {
      r.file = s->getFilename().str();
      r.line = s->getLine();
    }
    return r;
  }

  lift_options const& o_;
  std::vector<llvm::Function const*> functions_;
  std::map<llvm::Function const*, refusal> refused_;
  std::map<llvm::Function const*, function_plan> plans_;
};

// Adds the functions of a plan to a program, without their bodies.
void declare(ir::program& p, module_plan& plan) {
  std::set<std::string> names;
  for (function_plan& f : plan.functions) {
    std::string const mangled = f.function->getName().str();
    std::string name = llvm::demangle(mangled);
    if (!names.insert(name).second) names.insert(name = mangled);
    std::vector<ir::type> parameters;
    std::size_t next = 0;
    for (llvm::Argument const& a : f.function->args())
      parameters.push_back(
          a.getType()->isPointerTy() ? f.memory.objects[next++].type() : scalar_type(a.getType()));
    f.id = p.add(name, parameters);
    std::vector<ir::type>& results = p[f.id].results;
    if (!f.function->getReturnType()->isVoidTy()) results.push_back(scalar_type(f.function->getReturnType()));
    for (object const& o : f.memory.objects)
      if (is_returned(o)) results.push_back(o.type());
    if (llvm::DISubprogram const* const s = f.function->getSubprogram())
      p[f.id].place = p.add_place(s->getFilename().str(), s->getLine());
    ir::cursor c(p, f.id, ir::function::body);
    for (llvm::Argument const& a : f.function->args())
      if (a.hasName()) c.set_name(c->argument(ir::function::body, a.getArgNo()), p.intern(a.getName().str()));
  }
}

} // namespace
} // namespace lifting

std::string text_of(refused_function const& f) {
  std::string text = f.name;
  if (!f.file.empty()) text += " (" + f.file + ':' + std::to_string(f.line) + ')';
  return text + ": " + f.construct + ": " + f.why + "; " + f.instead;
}

lift_result lift(std::string_view module, lift_options const& o) {
  lifting::read_module const read = lifting::read(module, o);
  lifting::prepare(*read.module);
  lifting::planner planner(*read.module, o);
  planner.run();
  lift_result result{{}, planner.refused()};
  lifting::declare(result.program, planner.plan);
  for (lifting::function_plan const& f : planner.plan.functions)
    lifting::emit(result.program, planner.plan, f);
  pass::dce(result.program);
  ir::verify(result.program);
  return result;
}

lift_result lift_file(std::string const& path, lift_options const& o) {
  std::ifstream file(path, std::ios::binary);
  std::string const bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file.good() && bytes.empty())
    throw lift_error(message("overdub: %.200s cannot be read: %s", path.c_str(), std::strerror(errno)));
  return lift(bytes, o);
}

} // namespace overdub
