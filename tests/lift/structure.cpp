// The restructuring of control flow, without LLVM.
#include "catch.hpp"

#include <overdub/implementation/lift/structure.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace {

using overdub::lifting::flow_graph;
using overdub::lifting::restructure;
using overdub::lifting::structured;
using overdub::lifting::tree;

using walk = std::vector<std::uint32_t>;
constexpr std::size_t longest = 300; // blocks of a walk

// The successor that a block selects at its n-th visit.
std::size_t decision(std::uint64_t seed, std::uint32_t block, std::size_t visit, std::size_t successors) {
  std::uint64_t x = seed ^ (block * 0x9e3779b97f4a7c15u + visit * 0xbf58476d1ce4e5b9u);
  x = (x ^ (x >> 31)) * 0x94d049bb133111ebu;
  return (x >> 33) % successors;
}

walk walk_of(flow_graph const& g, std::uint64_t seed) {
  walk blocks;
  std::vector<std::size_t> visits(g.successors.size());
  for (std::uint32_t at = 0; blocks.size() < longest;) {
    blocks.push_back(at);
    auto const& next = g.successors[at];
    if (next.empty()) break;
    at = next[decision(seed, at, visits[at]++, next.size())];
  }
  return blocks;
}

class tree_walk {
public:
  tree_walk(flow_graph const& g, tree const& t, std::uint64_t seed)
      : g_(g), t_(t), seed_(seed), variables_(t.value_count.size(), ~0u), visits_(g.successors.size()) {}
  walk run() {
    run(t_.root);
    return blocks_;
  }

private:
  bool ends() const { return blocks_.size() >= longest; }
  void run(std::uint32_t n) {
    if (ends()) return;
    tree::node const& x = t_.nodes[n];
    switch (x.is) {
    case tree::kind::sequence:
      for (std::uint32_t const child : x.children) run(child);
      break;
    case tree::kind::block:
      blocks_.push_back(x.subject);
      break;
    case tree::kind::assignment:
      REQUIRE(x.value < t_.value_count[x.subject]);
      variables_[x.subject] = x.value;
      break;
    case tree::kind::branch:
      REQUIRE(x.children.size() == g_.successors[x.subject].size());
      run(x.children[decision(seed_, x.subject, visits_[x.subject]++, x.children.size())]);
      break;
    case tree::kind::selection:
      REQUIRE(variables_[x.subject] < x.children.size());
      run(x.children[variables_[x.subject]]);
      break;
    case tree::kind::loop:
      do run(x.children.front());
      while (!ends() && variables_[x.subject] == 1);
      break;
    }
  }
  flow_graph const& g_;
  tree const& t_;
  std::uint64_t seed_;
  std::vector<std::uint32_t> variables_;
  std::vector<std::size_t> visits_;
  walk blocks_;
};

// A block with one successor selects it without a branch node: it is never visited there.
void check_walks(flow_graph const& g, tree const& t) {
  INFO(text_of(t));
  for (std::uint64_t seed = 0; seed < 10; ++seed) REQUIRE(tree_walk(g, t, seed).run() == walk_of(g, seed));
}
void check_blocks(flow_graph const& g, tree const& t) {
  std::vector<bool> reached(g.successors.size());
  std::vector<std::uint32_t> pending{0};
  reached[0] = true;
  while (!pending.empty()) {
    std::uint32_t const b = pending.back();
    pending.pop_back();
    for (std::uint32_t const s : g.successors[b])
      if (!reached[s]) reached[s] = true, pending.push_back(s);
  }
  std::vector<std::uint32_t> count(g.successors.size());
  for (tree::node const& n : t.nodes)
    if (n.is == tree::kind::block) ++count[n.subject];
  for (std::size_t b = 0; b < count.size(); ++b) REQUIRE(count[b] == (reached[b] ? 1 : 0));
}

class random_numbers {
public:
  std::uint32_t operator()() { return static_cast<std::uint32_t>(generator_()); }
  using result_type = std::uint32_t;
  static constexpr std::uint32_t min() { return 0; }
  static constexpr std::uint32_t max() { return ~0u; }

private:
  std::mt19937 generator_{1};
};

// A graph in which every block reaches the last one.
flow_graph random_graph(random_numbers& random, std::uint32_t blocks, std::uint32_t reach) {
  flow_graph g;
  g.successors.resize(blocks);
  for (std::uint32_t b = 0; b + 1 < blocks; ++b) {
    g.successors[b].push_back(b + 1 + random() % std::min(reach, blocks - 1 - b));
    std::uint32_t const more = random() % 8;
    for (std::uint32_t i = 0; i < (more < 3 ? 0 : more < 7 ? 1 : 2); ++i)
      g.successors[b].push_back(1 + random() % (blocks - 1));
    std::shuffle(g.successors[b].begin(), g.successors[b].end(), random);
  }
  return g;
}

// n ordinary statements: branches, loops with break and early returns.
flow_graph program_graph(std::uint32_t n) {
  flow_graph g;
  auto const at = [&](std::uint32_t b) -> auto& {
    if (g.successors.size() <= b) g.successors.resize(b + 1);
    return g.successors[b];
  };
  for (std::uint32_t i = 0; i < n; ++i) {
    std::uint32_t const b = 6 * i;
    at(b) = {b + 1, b + 2};
    at(b + 1) = {b + 2};
    at(b + 2) = {b + 3, b + 6};
    at(b + 3) = {b + 4, b + 6};
    at(b + 4) = {b + 5, b + 2};
    at(b + 5) = {b + 2};
  }
  at(6 * n) = {};
  return g;
}

} // namespace

TEST_CASE("structured control flow stays as it is") {
  CHECK(text_of(restructure({{{1, 2}, {3}, {3}, {}}}).tree) == "b0\nbranch b0 {\n  b1\n} {\n  b2\n}\nb3\n");
  CHECK(
      text_of(restructure({{{1}, {2, 3}, {1}, {}}}).tree) ==
      "b0\nrepeat {\n  b1\n  branch b1 {\n    b2\n    v0 = 1\n  } {\n    v0 = 0\n  }\n} while v0\nb3\n");
}
TEST_CASE("a jump out of a branch sets a variable that selects what follows") {
  CHECK(
      text_of(restructure({{{1, 2}, {3, 2}, {4}, {4}, {}}}).tree) ==
      "b0\nbranch b0 {\n  b1\n  branch b1 {\n    b3\n    v0 = 1\n  } {\n    v0 = 0\n  }\n} {\n  v0 = 0\n}\n"
      "select v0 {\n  b2\n} {\n}\nb4\n");
}
TEST_CASE("a loop with two exits sets a variable for the exit") {
  CHECK(
      text_of(restructure({{{1}, {2, 3}, {1, 4}, {}, {}}}).tree) ==
      "b0\nrepeat {\n  b1\n  branch b1 {\n    b2\n    branch b2 {\n      v0 = 1\n    } {\n      v0 = 0\n     "
      " v1 = 1\n    }\n"
      "  } {\n    v0 = 0\n    v1 = 0\n  }\n} while v0\nselect v1 {\n  b3\n} {\n  b4\n}\n");
}
TEST_CASE("a loop with two entries selects where it begins") {
  CHECK(
      text_of(restructure({{{1, 2}, {2, 3}, {1, 3}, {}}}).tree) ==
      "b0\nbranch b0 {\n  v1 = 0\n} {\n  v1 = 1\n}\nrepeat {\n  select v1 {\n    b1\n    branch b1 {\n      "
      "v1 = 1\n      v0 = 1\n    } {\n"
      "      v0 = 0\n    }\n  } {\n    b2\n    branch b2 {\n      v1 = 0\n      v0 = 1\n    } {\n      v0 = "
      "0\n    }\n  }\n} while v0\nb3\n");
}
TEST_CASE("graphs without a tree have a reason") {
  CHECK(restructure({{{1}, {1}}}).problem == "a loop without an exit");
  CHECK(restructure({{{1}, {2}, {1}}}).block == 1);
  CHECK(restructure({}).problem == "a function without blocks");
  CHECK(restructure({{{1}, {}}}, {.blocks = 1}).problem == "more than 1 blocks");
  flow_graph ladder;
  for (std::uint32_t b = 0; b < 300; ++b) ladder.successors.push_back({300, b + 1});
  ladder.successors.push_back({});
  CHECK(restructure(ladder).problem == "branches and loops that are nested more than 200 deep");
  CHECK(restructure(ladder, {.nesting = 350}).problem.empty());
}
TEST_CASE("a tree runs the blocks of its graph in the same order, and has each once") {
  random_numbers random;
  int trees = 0;
  for (int i = 0; i < 3000; ++i) {
    std::uint32_t const blocks = 2 + random() % 14, reach = 1 + random() % 5;
    flow_graph const g = random_graph(random, blocks, reach);
    structured const s = restructure(g);
    if (!s.problem.empty()) {
      CHECK(s.problem == "a loop without an exit");
      continue;
    }
    ++trees;
    check_blocks(g, s.tree);
    check_walks(g, s.tree);
  }
  CHECK(trees > 2900);
  for (int i = 0; i < 30; ++i) {
    flow_graph const g = random_graph(random, 200, 6);
    structured const s = restructure(g);
    REQUIRE(s.problem.empty());
    check_blocks(g, s.tree);
    check_walks(g, s.tree);
  }
}
TEST_CASE("trees grow linearly with ordinary control flow") {
  auto const size = [](std::uint32_t n) {
    flow_graph const g = program_graph(n);
    structured const s = restructure(g, {.blocks = 1'000'000, .nodes = 10'000'000});
    REQUIRE(s.problem.empty());
    check_blocks(g, s.tree);
    return s.tree.nodes.size();
  };
  CHECK(size(10) == size(5) * 2 - (size(1) * 2 - size(2)));
  CHECK(size(20'000) < 2001 * size(10));
}
