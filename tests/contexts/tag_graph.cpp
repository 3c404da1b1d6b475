// tag against an independent oracle: a context that records the dependence graph of the program, and
// Boost.Graph's breadth-first search on it.
#include "catch.hpp"

#include <overdub/contexts/tag.hpp>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/breadth_first_search.hpp>

#include <random>
#include <vector>

namespace od = overdub;
using od::i64;
using overdub::contexts::inputs;

namespace {

using graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;

// The metadata of a value is its vertex; an edge leads from each result to its operands.
struct record : od::context {
  graph* dependences = nullptr;

  template <class T>
  using metadata = std::size_t;
  std::size_t constant(auto const&) { return add_vertex(*dependences); }

  template <od::elementwise F, class... X>
  auto overdub(F f, X... x) {
    auto const result = add_vertex(*dependences);
    (add_edge(result, x.metadata, *dependences), ...);
    return od::tag(f(x.inner...), result);
  }
};

// The program of one seed: a random expression over x[0], ..., x[n - 1] and earlier results, with functions,
// branches and loops. The same seed makes the same choices in every context.
struct seed { // opaque: contexts pass it unchanged
  unsigned number;
};
constexpr auto shift = od::fn<"shift">([](auto x, auto y) { return x - 0.5 * y; });
constexpr auto random_program = od::fn<"random_program">([](auto xs, seed chosen) {
  std::mt19937 random(chosen.number);
  auto below = [&](std::size_t n) { return random() % n; };
  for (int step = 0; step < 25; ++step) {
    auto const x = xs[below(xs.size())], y = xs[below(xs.size())], z = xs[below(xs.size())];
    switch (below(9)) {
    case 0:
      xs.push_back(x + y);
      break;
    case 1:
      xs.push_back(x * y * 0.25);
      break;
    case 2:
      xs.push_back(sin(x));
      break;
    case 3:
      xs.push_back(od::select(x < y, y, z));
      break;
    case 4:
      xs.push_back(shift(x, y));
      break;
    case 5:
      xs.push_back(od::if_(
          x < y, [&] { return sin(x); }, [&] { return y - z; }));
      break;
    case 6:
      xs.push_back(od::loop(3, x, [&](auto, auto s) { return s * 0.5 + y; }));
      break;
    case 7:
      xs.push_back(od::convert<double>(od::convert<i64>(x * 8.0)));
      break;
    case 8:
      xs[below(xs.size())] = od::fma(x, y, 1.0);
      break;
    }
  }
  return xs.back();
});

struct found : boost::default_bfs_visitor {
  std::vector<bool>* reached;
  explicit found(std::vector<bool>& vertices) : reached(&vertices) {}
  void discover_vertex(std::size_t v, graph const&) { (*reached)[v] = true; }
};

} // namespace

TEST_CASE("tag finds the inputs that a search of the dependence graph reaches, in 300 random programs") {
  std::size_t some = 0;
  for (unsigned number = 0; number < 300; ++number) {
    std::size_t const n = 1 + number % 12;
    graph dependences;
    record recorder{{}, &dependences};
    overdub::contexts::tag tags;
    std::vector<od::tagged<double, inputs<>>> tagged;
    std::vector<od::tagged<double, std::size_t>> vertices;
    for (std::size_t i = 0; i < n; ++i) {
      double const x = 0.1 + 0.3 * static_cast<double>(i);
      tagged.push_back(od::tag(x, overdub::contexts::input(i)));
      vertices.push_back(od::tag(x, add_vertex(dependences)));
    }
    auto const traced = od::run(tags, random_program, tagged, seed{number});
    auto const recorded = od::run(recorder, random_program, vertices, seed{number});

    std::vector<bool> reached(num_vertices(dependences));
    breadth_first_search(dependences, recorded.metadata, visitor(found(reached)));
    inputs<> expected;
    for (std::size_t i = 0; i < n; ++i) expected[i] = reached[vertices[i].metadata];
    INFO("seed " << number);
    CHECK(traced.inner == recorded.inner);
    CHECK(traced.metadata == expected);
    some += expected.any() && expected.count() < n;
  }
  CHECK(some > 100); // neither all inputs nor none
}
