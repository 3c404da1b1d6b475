// NUTS's trajectories, point by point: the test integrates each trajectory independently, and checks that it ends where the published
// U-turn criterion first holds.
#include "catch.hpp"
#include "inference/targets.hpp"

#include <overdub/inference/nuts.hpp>

#include <cmath>
#include <cstddef>
#include <random>
#include <span>
#include <vector>

namespace {

using namespace overdub::inference;
using vector = std::vector<double>;

// Records the evaluated points.
struct recorded {
  targets::correlated_normal density;
  std::vector<vector>* seen;
  std::size_t dimension() const { return density.dimension(); }
  double operator()(std::span<double const> q, std::span<double> gradient) const {
    seen->emplace_back(q.begin(), q.end());
    return density(q, gradient);
  }
};

struct state {
  vector q, p;
};

struct checker {
  targets::correlated_normal density{3, 0.6};
  vector inverse{0.7, 3.0, 12.0};
  double step;
  int incomplete = 0, complete = 0,
      across = 0; // trajectories by their ends; ends that only the checks across halves detected

  vector gradient(vector const& q) const {
    vector g(q.size());
    (void)density(q, g);
    return g;
  }
  state next(state const& s, double h) const {
    state t = s;
    vector const g = gradient(s.q);
    for (std::size_t i = 0; i < 3; ++i) {
      t.p[i] += h / 2 * g[i];
      t.q[i] += h * inverse[i] * t.p[i];
    }
    vector const end = gradient(t.q);
    for (std::size_t i = 0; i < 3; ++i) t.p[i] += h / 2 * end[i];
    return t;
  }
  static double distance(vector const& a, vector const& b) {
    double sum = 0;
    for (std::size_t i = 0; i < 3; ++i) sum += std::abs(a[i] - b[i]);
    return sum;
  }

  bool straight(std::span<state const> part) const {
    vector sum(3);
    for (state const& s : part)
      for (std::size_t i = 0; i < 3; ++i) sum[i] += s.p[i];
    double first = 0, last = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      first += inverse[i] * part.front().p[i] * sum[i];
      last += inverse[i] * part.back().p[i] * sum[i];
    }
    return first > 0 && last > 0;
  }
  // The criterion of two joined halves, without the checks within each.
  bool joined(std::span<state const> all, std::size_t middle) {
    bool const sides = straight(all.first(middle + 1)) && straight(all.subspan(middle - 1));
    if (!sides && straight(all)) ++across;
    return sides && straight(all);
  }
  // Whether a trajectory from q, given its evaluated points in order, ended at the first U-turn.
  bool right(vector const& q, std::vector<vector> const& seen, int depth, int max_depth) {
    // The direction of the first step is unknown, and irrelevant by symmetry: assume forwards.
    state initial{q, vector(3)};
    vector const g = gradient(q);
    for (std::size_t i = 0; i < 3; ++i)
      initial.p[i] = (seen[0][i] - q[i]) / step / inverse[i] - step / 2 * g[i];
    std::vector<state> trajectory = {initial};
    std::size_t used = 0;
    for (int d = 0;; ++d) {
      if (d == max_depth) return d == depth && used == seen.size();
      // The end from which the trajectory continues.
      if (used == seen.size()) return false;
      bool const forward = distance(next(trajectory.back(), step).q, seen[used]) < 1e-9;
      if (!forward && !(distance(next(trajectory.front(), -step).q, seen[used]) < 1e-9)) return false;
      std::vector<state> added;
      state s = forward ? trajectory.back() : trajectory.front();
      for (std::size_t size = std::size_t{1} << d; added.size() < size;) {
        if (used == seen.size()) return false;
        s = next(s, forward ? step : -step);
        if (distance(s.q, seen[used++]) > 1e-9) return false;
        added.push_back(s);
        // If a subtree that ends here makes a U-turn, the trajectory ends.
        for (std::size_t part = 2; added.size() % part == 0 && part <= size; part *= 2)
          if (!joined(std::span(added).last(part), part / 2)) {
            ++incomplete;
            return d == depth && used == seen.size();
          }
      }
      if (forward)
        trajectory.insert(trajectory.end(), added.begin(), added.end());
      else
        trajectory.insert(trajectory.begin(), added.rbegin(), added.rend());
      if (!joined(trajectory, trajectory.size() / 2)) {
        ++complete;
        return d + 1 == depth && used == seen.size();
      }
    }
  }
};

} // namespace

TEST_CASE("a trajectory of NUTS ends at the first U-turn, of the whole, of a subtree, or across halves") {
  int incomplete = 0, complete = 0, across = 0, longest = 0;
  for (double const step : {0.05, 0.11, 0.25, 0.4, 0.8}) {
    std::vector<vector> seen;
    checker check{.step = step};
    nuts<recorded> chain({check.density, &seen}, diagonal_metric(3, check.inverse), {.max_depth = 7});
    REQUIRE(chain.start(vector{0.1, -0.5, 2}));
    chain.set_step_size(step);
    std::mt19937_64 generator(5);
    int wrong = 0;
    for (int i = 0; i < 400; ++i) {
      vector const q(chain.position().begin(), chain.position().end());
      seen.clear();
      sampler_statistics const s = chain.transition(generator);
      wrong += !check.right(q, seen, s.tree_depth, 7) || static_cast<int>(seen.size()) != s.leapfrog_steps;
      longest = std::max(longest, s.tree_depth);
    }
    INFO("step " << step);
    CHECK(wrong == 0);
    incomplete += check.incomplete;
    complete += check.complete;
    across += check.across;
  }
  // All kinds of ends occurred.
  CHECK(incomplete > 100);
  CHECK(complete > 100);
  CHECK(across > 10);
  CHECK(longest >= 6);
}
