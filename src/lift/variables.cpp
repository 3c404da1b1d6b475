#include "variables.hpp"

#include "refusal.hpp"
#include "values.hpp"

#include <bit>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <optional>
#include <utility>

namespace overdub::lifting {
namespace {

constexpr std::uint32_t no_variable = function_variables::none;

// A set of variables.
class variable_set {
public:
  explicit variable_set(std::size_t variables = 0) : words_((variables + 63) / 64) {}
  void insert(std::uint32_t v) { words_[v / 64] |= std::uint64_t{1} << v % 64; }
  void erase(std::uint32_t v) { words_[v / 64] &= ~(std::uint64_t{1} << v % 64); }
  bool has(std::uint32_t v) const { return (words_[v / 64] >> v % 64 & 1) != 0; }
  void operator|=(variable_set const& o) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= o.words_[i];
  }
  void operator&=(variable_set const& o) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= o.words_[i];
  }
  void operator-=(variable_set const& o) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= ~o.words_[i];
  }
  std::vector<std::uint32_t> list() const {
    std::vector<std::uint32_t> all;
    for (std::size_t i = 0; i < words_.size(); ++i)
      for (std::uint64_t rest = words_[i]; rest != 0; rest &= rest - 1)
        all.push_back(
            static_cast<std::uint32_t>(64 * i) + static_cast<std::uint32_t>(std::countr_zero(rest)));
    return all;
  }

private:
  std::vector<std::uint64_t> words_;
};

// What a part of a tree does with variables.
struct part_use {
  variable_set reads;   // before it writes them
  variable_set writes;  // on all paths
  variable_set changes; // on some path
};
struct block_use {
  std::vector<std::uint32_t> reads; // before it writes them
  std::vector<std::uint32_t> writes;
};

class variable_numbering {
public:
  variable_numbering(llvm::Function const& f, function_memory const& memory, tree const& t) {
    for (llvm::Instruction const& i : llvm::instructions(f))
      if (is_variable(i)) all.of_value[&i] = add(scalar_type(i.getType()));
    for (object const& o : memory.objects)
      all.of_object.push_back(o.is_written ? add(o.type()) : no_variable);
    for (llvm::Type const* type : result_types(f)) all.results.push_back(add(scalar_type(type)));
    all.first_auxiliary = static_cast<std::uint32_t>(all.types.size());
    for (std::uint32_t const values : t.value_count) add(values == 2 ? ir::boolean : ir::i64);
    all.changed.resize(t.nodes.size());
  }
  function_variables all;

private:
  std::uint32_t add(ir::type t) {
    all.types.push_back(t);
    return static_cast<std::uint32_t>(all.types.size() - 1);
  }
  // Phis are written at the end of their predecessors.
  static bool is_variable(llvm::Instruction const& i) {
    if (llvm::isa<llvm::PHINode>(i)) return true;
    if (llvm::isa<llvm::AllocaInst>(i)) return false;
    for (llvm::Use const& u : i.uses()) {
      auto const* const user = llvm::cast<llvm::Instruction>(u.getUser());
      auto const* const phi = llvm::dyn_cast<llvm::PHINode>(user);
      if ((phi ? phi->getIncomingBlock(u) : user->getParent()) != i.getParent()) return true;
    }
    return false;
  }
};

class block_summary {
public:
  block_summary(
      llvm::BasicBlock const& b, function_memory const& memory, parameter_uses const& parameters,
      function_variables const& all)
      : memory_(memory), parameters_(parameters), all_(all) {
    for (llvm::Instruction const& i : b) {
      if (llvm::isa<llvm::PHINode>(i)) continue;
      if (auto const* call = llvm::dyn_cast<llvm::CallBase>(&i); call && is_ignored(*call)) continue;
      for (llvm::Value const* v : i.operands()) read_value(v);
      use_memory(i);
      write(all.of(&i));
      if (llvm::isa<llvm::ReturnInst>(i))
        for (std::uint32_t const v : all.results) write(v);
    }
    // All phis of the successors change at once.
    for (llvm::BasicBlock const* s : llvm::successors(&b))
      for (llvm::PHINode const& phi : s->phis()) read_value(phi.getIncomingValueForBlock(&b));
    for (llvm::BasicBlock const* s : llvm::successors(&b))
      for (llvm::PHINode const& phi : s->phis()) write(all.of(&phi));
  }
  block_use use;

private:
  void read(std::uint32_t v) {
    if (v != no_variable && !written_.count(v) && read_.insert({v, true}).second) use.reads.push_back(v);
  }
  void write(std::uint32_t v) {
    if (v != no_variable && written_.insert({v, true}).second) use.writes.push_back(v);
  }
  void read_value(llvm::Value const* v) {
    if (llvm::isa<llvm::Instruction>(v)) read(all_.of(v));
  }
  void use_memory(llvm::Instruction const& i) {
    accessed_objects const all = objects_of(i, memory_, parameters_);
    for (std::uint32_t const o : all.reads) read(all_.of_object[o]);
    for (std::uint32_t const o : all.writes) write(all_.of_object[o]);
  }

  function_memory const& memory_;
  parameter_uses const& parameters_;
  function_variables const& all_;
  llvm::DenseMap<std::uint32_t, bool> written_, read_;
};

class tree_liveness {
public:
  tree_liveness(
      tree const& t, std::map<std::uint32_t, headed_loop> const& headed, std::vector<block_use> const& blocks,
      function_variables& all)
      : t_(t), headed_(headed), blocks_(blocks), all_(all), uses_(t.nodes.size()) {}

  void run(std::vector<std::uint32_t> const& live_at_end) {
    summarise(t_.root);
    variable_set live = empty();
    for (std::uint32_t const v : live_at_end) live.insert(v);
    visit_sequence(t_.root, std::move(live));
  }

private:
  variable_set empty() const { return variable_set(all_.types.size()); }
  std::uint32_t auxiliary(std::uint32_t v) const { return all_.first_auxiliary + v; }

  // ---- from the leaves up

  void summarise(std::uint32_t n) {
    tree::node const& x = t_.nodes[n];
    for (std::uint32_t const child : x.children) summarise(child);
    if (x.is == tree::kind::block || x.is == tree::kind::assignment) return;
    part_use use{empty(), empty(), empty()};
    if (x.is == tree::kind::sequence) {
      for (std::uint32_t const child : x.children) append(use, child);
    } else if (x.is == tree::kind::loop) {
      use = uses_[x.children.front()];
    } else {
      bool first = true;
      for (std::uint32_t const child : x.children) {
        part_use const& arm = uses_[child];
        use.reads |= arm.reads;
        use.changes |= arm.changes;
        if (std::exchange(first, false))
          use.writes = arm.writes;
        else
          use.writes &= arm.writes;
      }
      if (x.is == tree::kind::selection) use.reads.insert(auxiliary(x.subject));
    }
    uses_[n] = std::move(use);
  }
  void append(part_use& all, std::uint32_t n) {
    tree::node const& x = t_.nodes[n];
    auto const write = [&](std::uint32_t v) {
      all.writes.insert(v);
      all.changes.insert(v);
    };
    if (x.is == tree::kind::assignment) return write(auxiliary(x.subject));
    if (x.is == tree::kind::block) {
      for (std::uint32_t const v : blocks_[x.subject].reads)
        if (!all.writes.has(v)) all.reads.insert(v);
      for (std::uint32_t const v : blocks_[x.subject].writes) write(v);
      return;
    }
    part_use const& use = uses_[n];
    variable_set reads = use.reads;
    reads -= all.writes;
    all.reads |= reads;
    all.writes |= use.writes;
    all.changes |= use.changes;
  }

  // ---- from the end back

  void visit_sequence(std::uint32_t n, variable_set live) {
    std::vector<std::uint32_t> const& children = t_.nodes[n].children;
    for (std::size_t i = children.size(); i-- > 0;) {
      tree::node const& x = t_.nodes[children[i]];
      if (x.is == tree::kind::assignment) {
        live.erase(auxiliary(x.subject));
      } else if (x.is == tree::kind::block) {
        for (std::uint32_t const v : blocks_[x.subject].writes) live.erase(v);
        for (std::uint32_t const v : blocks_[x.subject].reads) live.insert(v);
      } else {
        visit(children[i], live);
        live -= uses_[children[i]].writes;
        live |= uses_[children[i]].reads;
      }
    }
  }
  void visit(std::uint32_t n, variable_set const& live) {
    tree::node const& x = t_.nodes[n];
    variable_set changed = uses_[n].changes;
    if (x.is == tree::kind::loop) {
      variable_set live_inside = live;
      live_inside |= uses_[n].reads;
      if (auto const headed = headed_.find(n); headed != headed_.end())
        changed = uses_[headed->second.continuing].changes;
      changed &= live_inside;
      live_inside.insert(auxiliary(x.subject));
      visit_sequence(x.children.front(), std::move(live_inside));
      changed.erase(auxiliary(x.subject));
    } else {
      changed &= live;
      for (std::uint32_t const child : x.children) visit_sequence(child, live);
    }
    all_.changed[n] = changed.list();
  }

  tree const& t_;
  std::map<std::uint32_t, headed_loop> const& headed_;
  std::vector<block_use> const& blocks_;
  function_variables& all_;
  std::vector<part_use> uses_;
};

} // namespace

function_variables analyse_variables(
    llvm::Function const& f, function_memory const& memory, parameter_uses const& parameters, tree const& t,
    llvm::ArrayRef<llvm::BasicBlock const*> blocks, std::map<std::uint32_t, headed_loop> const& headed) {
  function_variables all = variable_numbering(f, memory, t).all;
  constexpr std::size_t most_bits = std::size_t{1} << 31;
  if (t.nodes.size() * all.types.size() > most_bits)
    throw refusal{
        "a function with " + std::to_string(all.types.size()) + " variables",
        "their liveness takes too much memory", "divide the function", nullptr};
  std::vector<block_use> uses;
  for (llvm::BasicBlock const* b : blocks) uses.push_back(block_summary(*b, memory, parameters, all).use);
  std::vector<std::uint32_t> live = all.results;
  for (std::uint32_t i = 0; i < memory.objects.size(); ++i)
    if (is_returned(memory.objects[i])) live.push_back(all.of_object[i]);
  tree_liveness(t, headed, uses, all).run(live);
  return all;
}

} // namespace overdub::lifting
