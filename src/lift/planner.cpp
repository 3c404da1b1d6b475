#include "planner.hpp"

#include "callees_first.hpp"
#include "indirect_calls.hpp"
#include "refusal.hpp"
#include "supported.hpp"
#include "values.hpp"

#include <algorithm>
#include <deque>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <map>
#include <utility>

namespace overdub::lifting {
namespace {

using refusals = std::map<llvm::Function const*, refusal>;

// Runs a step of the analysis of a function, unless it is refused already.
template <class Step>
void guarded(refusals& refused, llvm::Function const& f, Step const& step) {
  if (refused.contains(&f)) return;
  try {
    step();
  } catch (refusal& why) {
    refused.emplace(&f, std::move(why));
  }
}

void plan_tree(function_plan& p, llvm::Function const& f, lift_options const& o) {
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
  structured s = restructure(g, {.blocks = o.blocks, .nesting = o.nesting});
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
}

void refuse_callers(refusals& refused) {
  std::vector<llvm::Function const*> pending;
  for (auto const& [f, why] : refused) pending.push_back(f);
  for (std::size_t at = 0; at < pending.size(); ++at)
    for (llvm::User const* u : pending[at]->users()) {
      auto const* const call = llvm::dyn_cast<llvm::CallBase>(u);
      if (!call || call->getCalledFunction() != pending[at] || refused.contains(call->getFunction()) ||
          is_dispatcher(*call->getFunction()))
        continue;
      refused.emplace(
          call->getFunction(), refusal{
                                   "a call of " + llvm::demangle(pending[at]->getName().str()),
                                   "that function is refused", "see its own line", call});
      pending.push_back(call->getFunction());
    }
}

refused_function described(llvm::Function const& f, refusal const& why) {
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

// Plans functions whose pointers are arrays.
class array_planner {
public:
  array_planner(std::vector<llvm::Function const*> const& functions, module_plan& plan, lift_options const& o)
      : functions_(functions), plan_(plan), o_(o) {}

  void run() {
    for (llvm::Function const* f : functions_) guarded(refused, *f, [&] { check_supported(*f, false); });
    plan_memory();
    for (llvm::Function const* f : functions_)
      guarded(refused, *f, [&] {
        function_plan& p = plans_[f];
        plan_tree(p, *f, o_);
        p.variables = analyse_variables(*f, p.memory, plan_.parameters, p.tree, p.blocks, p.headed);
      });
    refuse_callers(refused);
    for (llvm::Function const* f : functions_) {
      if (refused.contains(f)) continue;
      plan_.with_arrays[f] = static_cast<std::uint32_t>(plan_.functions.size());
      plan_.functions.push_back(std::move(plans_[f]));
    }
  }

  refusals refused;

private:
  // Loads and stores say what the elements of arrays are; types in the functions, and callers, say it for arrays that are copied alone.
  void plan_memory() {
    std::vector<llvm::Function const*> const order =
        callees_first(functions_); // so that few are analysed twice
    analyse(order, false);
    std::vector<llvm::Function const*> unknown;
    for (llvm::Function const* f : order) {
      if (refused.contains(f) || knows_elements(plans_[f].memory)) continue;
      unknown.push_back(f);
      for_callers(*f, [&](llvm::Function const& caller) { unknown.push_back(&caller); });
    }
    analyse(unknown, true);
    for (llvm::Function const* f : unknown)
      guarded(refused, *f, [&] { check_elements(*f, plans_[f].memory, plan_.parameters); });
  }
  static bool knows_elements(function_memory const& memory) {
    return std::ranges::all_of(
        memory.objects, [](object const& o) { return o.element.is_known() || !o.is_accessed; });
  }
  template <class See>
  static void for_callers(llvm::Function const& f, See const& see) {
    for (llvm::User const* u : f.users())
      if (auto const* call = llvm::dyn_cast<llvm::CallBase>(u)) see(*call->getFunction());
  }
  // The uses of parameters grow until they are those of all callees.
  void analyse(std::vector<llvm::Function const*> const& functions, bool by_types) {
    std::deque<llvm::Function const*> pending;
    llvm::DenseSet<llvm::Function const*> waiting;
    auto const add = [&](llvm::Function const& f) {
      if (waiting.insert(&f).second) pending.push_back(&f);
    };
    for (llvm::Function const* f : functions) add(*f);
    while (!pending.empty()) {
      llvm::Function const* const f = pending.front();
      pending.pop_front();
      waiting.erase(f);
      guarded(refused, *f, [&] {
        function_memory& memory = plans_[f].memory = analyse_memory(*f, plan_.parameters, o_, by_types);
        if (update_uses(memory, plan_.parameters)) for_callers(*f, add);
        if (!by_types) return;
        for (llvm::Function const* callee : pass_elements(*f, memory, plan_.parameters)) {
          add(*callee);
          for_callers(*callee, add);
        }
      });
    }
  }

  std::vector<llvm::Function const*> const& functions_;
  module_plan& plan_;
  lift_options const& o_;
  std::map<llvm::Function const*, function_plan> plans_;
};

// Plans functions in linear memory: those that cannot have arrays, and their callees that have pointers.
class memory_planner {
public:
  memory_planner(module_plan& plan, lift_options const& o) : plan_(plan), o_(o) {}

  // `roots`: functions that cannot have arrays.
  void run(std::vector<llvm::Function const*> const& roots) {
    for (llvm::Function const* f : roots) add(*f);
    for (std::size_t at = 0; at < functions_.size(); ++at) {
      llvm::Function const& f = *functions_[at];
      guarded(refused, f, [&] {
        check_supported(f, true);
        plan_tree(plans_[&f], f, o_);
      });
      if (refused.contains(&f)) continue;
      for (llvm::Instruction const& i : llvm::instructions(f))
        if (auto const* call = llvm::dyn_cast<llvm::CallBase>(&i))
          if (llvm::Function const* const callee = call->getCalledFunction()) add(*callee);
    }
    refuse_callers(refused);
    if (!functions_.empty()) place_functions(plan_.layout, *functions_.front()->getParent());
    // Constants are placed in the order of the module, for functions that are lifted alone.
    for (llvm::Function const* f : functions_)
      guarded(refused, *f, [&] { check_linear(*f, plan_.layout, o_); });
    refuse_callers(refused);
    find_effects();
    for (llvm::Function const* f : functions_)
      guarded(refused, *f, [&] {
        function_plan& p = plans_[f];
        p.memory = linear_memory_of(*f, plan_.layout, effects_);
        p.variables = analyse_variables(*f, p.memory, plan_.parameters, p.tree, p.blocks, p.headed);
      });
    refuse_callers(refused);
    for (llvm::Function const* f : functions_) {
      if (refused.contains(f)) continue;
      plan_.in_memory[f] = static_cast<std::uint32_t>(plan_.functions.size());
      plan_.functions.push_back(std::move(plans_[f]));
    }
  }

  refusals refused;

private:
  void add(llvm::Function const& f) {
    if (f.isDeclaration() || !known_.insert(&f).second) return;
    if (has_pointers(f) || !plan_.of(&f)) functions_.push_back(&f);
  }
  // Effects grow until they include those of all callees.
  void find_effects() {
    std::deque<llvm::Function const*> pending;
    llvm::DenseSet<llvm::Function const*> waiting;
    for (llvm::Function const* f : functions_)
      if (!refused.contains(f) && waiting.insert(f).second) pending.push_back(f);
    while (!pending.empty()) {
      llvm::Function const* const f = pending.front();
      pending.pop_front();
      waiting.erase(f);
      memory_effect const effect = effect_of(*f, effects_);
      if (effect == effects_.lookup(f)) continue;
      effects_[f] = effect;
      for (llvm::User const* u : f->users())
        if (auto const* call = llvm::dyn_cast<llvm::CallBase>(u))
          if (plans_.contains(call->getFunction()) && !refused.contains(call->getFunction()) &&
              waiting.insert(call->getFunction()).second)
            pending.push_back(call->getFunction());
    }
  }

  module_plan& plan_;
  lift_options const& o_;
  std::vector<llvm::Function const*> functions_;
  llvm::DenseSet<llvm::Function const*> known_;
  llvm::DenseMap<llvm::Function const*, memory_effect> effects_;
  std::map<llvm::Function const*, function_plan> plans_;
};

} // namespace

planned_module plan_module(llvm::Module const& m, lift_options const& o) {
  planned_module all;
  std::vector<llvm::Function const*> functions;
  for (llvm::Function const& f : m)
    if (!f.isDeclaration()) functions.push_back(&f);
  array_planner arrays(functions, all.plan, o);
  arrays.run();
  std::vector<llvm::Function const*> roots;
  for (llvm::Function const* f : functions)
    if (arrays.refused.contains(f)) roots.push_back(f);
  memory_planner memory(all.plan, o);
  memory.run(roots);
  for (llvm::Function const* f : functions) {
    auto const at = memory.refused.find(f);
    if (at == memory.refused.end()) continue;
    all.refused.push_back(described(*f, at->second));
    if (!arrays.refused.contains(f)) all.refused.back().name += " in memory";
  }
  return all;
}

} // namespace overdub::lifting
