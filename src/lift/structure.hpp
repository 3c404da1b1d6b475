// Restructures a control-flow graph: a tree of sequences, branches and tail-controlled loops in which each block occurs once. No block
// is copied: where control flow is not structured, auxiliary variables select the way. The graph is abstract, and knows no LLVM.
//
// H. Bahmann, N. Reissmann, M. Jahre and J. C. Meyer, Perfect Reconstructability of Control Flow from Demand Dependence Graphs,
// ACM Transactions on Architecture and Code Optimization 11(4), 2015, sections 4.1 (loops) and 4.2 (branches).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace overdub::lifting {

/// Blocks by number, and the successors of each, in the order in which its terminator selects them. Block 0 is the entry; blocks without
/// successors end the function.
struct flow_graph {
  std::vector<std::vector<std::uint32_t>> successors;
};

/// A structured program over the blocks of a graph.
struct tree {
  enum class kind : std::uint8_t {
    sequence,   // runs its children in order
    block,      // runs block `subject`
    branch,     // runs the child that the terminator of block `subject` selects, which ran before
    selection,  // runs the child that variable `subject` selects
    loop,       // runs its only child, and repeats it while variable `subject` is 1
    assignment, // sets variable `subject` to `value`
  };
  struct node {
    kind is = kind::sequence;
    std::uint32_t subject = 0;
    std::uint32_t value = 0;
    std::vector<std::uint32_t>
        children; // numbers of nodes; those of branch, selection and loop are sequences
  };
  std::vector<node> nodes;
  std::uint32_t root = 0;                 // a sequence
  std::vector<std::uint32_t> value_count; // of each auxiliary variable: it is 0, 1, ..., value_count - 1
};

struct structure_limits {
  std::uint32_t blocks = 10'000;
  std::uint32_t nesting = 200;     // of branches and loops
  std::uint32_t nodes = 1'000'000; // of the tree
};

/// A tree; or why there is none, and the block where that shows.
struct structured {
  lifting::tree tree;
  std::string problem; // empty: there is none
  std::uint32_t block = 0;
};

/// Restructures a graph. Blocks that the entry does not reach are left out. There is no tree for a graph that exceeds a limit, or has a
/// loop without an exit. O(blocks × nesting of loops + arcs × log blocks + size of the tree).
structured restructure(flow_graph const& g, structure_limits const& limits = {});

/// The tree as text, a line for each block, assignment, branch and loop.
std::string text_of(tree const& t);

} // namespace overdub::lifting
