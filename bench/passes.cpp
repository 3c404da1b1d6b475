// The time of the default pipeline for each operation of a program, as programs grow: one function of many operations, and many
// functions of a hundred. Goal: 2 microseconds an operation, from 1,000 to 1,000,000 operations.
#include <overdub/pass/pipeline.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace overdub::ir;

constexpr double goal = 2000; // nanoseconds an operation

/// Builds programs that resemble staged ones: arithmetic on recent results, some of it duplicated, and an occasional map, loop, branch
/// or call.
class writer {
public:
  program of(std::size_t functions, std::size_t operations) {
    small_ = p_.add("small", std::array{f64, f64});
    p_[small_].results = {f64};
    cursor c(p_, small_, function::body);
    value_id const x = c->argument(function::body, 0), y = c->argument(function::body, 1);
    c.yield(std::array{c.add(op::sqrt, c.add(op::add, c.add(op::mul, x, x), c.add(op::mul, y, y)))});
    std::vector<function_id> all;
    for (std::size_t i = 0; i < functions; ++i)
      all.push_back(add(std::to_string(i).insert(0, 1, 'f'), operations));
    p_.entry = p_.add("main", std::array{f64, f64.array_of()});
    p_[p_.entry].results = {f64};
    cursor m(p_, p_.entry, function::body);
    value_id sum = m.literal(0.0);
    for (function_id const f : all)
      sum = m.add(
          op::add, sum,
          m->result(m.insert(
              op::call, {m->argument(function::body, 0), m->argument(function::body, 1)},
              attributes::of(f))));
    m.yield(std::array{sum});
    return std::move(p_);
  }

private:
  function_id add(std::string const& name, std::size_t operations) {
    function_id const f = p_.add(name, std::array{f64, f64.array_of()});
    p_[f].results = {f64};
    cursor c(p_, f, function::body);
    array_ = c->argument(function::body, 1);
    std::vector<value_id> window{c->argument(function::body, 0)};
    value_id last = window[0];
    while (c->node_count() < operations) {
      step(c, window);
      last = c.add(op::add, last, window.back());
    }
    c.yield(std::array{last});
    return f;
  }
  value_id pick(std::vector<value_id> const& window) {
    return window[window.size() - 1 - below(std::min<std::size_t>(window.size(), 12))];
  }
  void arithmetic(cursor& c, std::vector<value_id>& window, int count) {
    static constexpr op codes[] = {op::add, op::mul, op::sub, op::div, op::sin, op::exp, op::min, op::sqrt};
    for (int i = 0; i < count; ++i) {
      op const code = codes[below(std::size(codes))];
      value_id const x = pick(window);
      if (row_of(code).least == 1)
        window.push_back(c.add(code, x));
      else
        window.push_back(c.add(code, x, below(4) == 0 ? c.literal(1.0) : pick(window)));
      if (below(8) == 0) // a duplicate
        window.push_back(c->result(c.insert(
            code, std::vector<value_id>(
                      c->operands_of(c->node_of(window.back())).begin(),
                      c->operands_of(c->node_of(window.back())).end()))));
    }
  }
  template <class Fill>
  void in_region(cursor& c, region_id r, std::vector<value_id> window, Fill fill) {
    region_id const outside = c.region();
    c.to_end(r);
    fill(window);
    arithmetic(c, window, 5);
    c.yield(std::array{window.back()});
    c.to_end(outside);
  }
  void step(cursor& c, std::vector<value_id>& window) {
    arithmetic(c, window, 20);
    switch (below(4)) {
    case 0: { // a map and a read of one of its elements
      value_id const n = c.add(op::length, array_);
      std::vector<type> const index{i64}, result{f64.array_of()};
      node_id const map = c.insert(op::map, std::array{n}, result, {}, std::array{index});
      region_id const r = c->region_at(map, 0);
      in_region(
          c, r, window, [&](auto& inner) { inner.push_back(c.add(op::at, array_, c->argument(r, 0))); });
      window.push_back(c->result(c.insert(op::reduce, {c->result(map)}, attributes::of(op::add))));
      break;
    }
    case 1: {
      std::vector<type> const carried{i64, f64}, result{f64};
      node_id const loop = c.insert(
          op::loop, std::array{c.literal(std::int64_t{10}), window.back()}, result, {}, std::array{carried});
      region_id const r = c->region_at(loop, 0);
      in_region(c, r, window, [&](auto& inner) { inner.push_back(c->argument(r, 1)); });
      window.push_back(c->result(loop));
      break;
    }
    case 2: {
      value_id const condition = c.add(op::lt, pick(window), pick(window));
      std::vector<type> const none, result{f64};
      node_id const branch = c.insert(op::if_, std::array{condition}, result, {}, std::array{none, none});
      for (std::uint32_t i = 0; i < 2; ++i) in_region(c, c->region_at(branch, i), window, [](auto&) {});
      window.push_back(c->result(branch));
      break;
    }
    default:
      window.push_back(c->result(c.insert(op::call, {pick(window), pick(window)}, attributes::of(small_))));
    }
    if (window.size() > 64) window.erase(window.begin(), window.end() - 16);
  }
  std::size_t below(std::size_t n) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>(state_ >> 33) % n;
  }

  program p_;
  function_id small_ = nothing;
  value_id array_ = nothing;
  std::uint64_t state_ = 1;
};

// The fastest of several runs of each pass, in nanoseconds for each operation of the pass's input.
void measure(char const* what, std::size_t functions, std::size_t operations) {
  program const p = writer().of(functions, operations);
  std::size_t const size = overdub::pass::operation_count(p);
  int const rounds = size < 100'000 ? 20 : 3;
  std::vector<std::pair<std::string_view, double>> best;
  std::size_t after = 0;
  double total = 1e300;
  for (int i = 0; i < rounds; ++i) {
    program copy = p;
    std::size_t at = 0;
    double observed = 0;
    overdub::pass::default_pipeline(copy, [&](overdub::pass::pass_report const& r) {
      double const each = static_cast<double>(r.nanoseconds) / static_cast<double>(size);
      if (best.size() <= at) best.emplace_back(r.name, each);
      best[at].second = std::min(best[at].second, each);
      ++at;
      observed += each;
      after = r.operations_after;
    });
    total = std::min(total, observed);
  }
  std::printf("%s: %zu operations, %zu after\n ", what, size, after);
  for (auto const& [name, each] : best)
    std::printf(" %.*s %.0f", static_cast<int>(name.size()), name.data(), each);
  std::printf(
      "\n  %-44s %10.1f ns an operation   goal %.0f  %s\n", "all", total, goal,
      total > goal ? "MISS" : "pass");
  std::fflush(stdout);
}

} // namespace

int main() {
  for (std::size_t const n : {1'000u, 10'000u, 100'000u, 1'000'000u}) measure("one function", 1, n);
  for (std::size_t const n : {1'000u, 10'000u, 100'000u, 1'000'000u}) measure("many functions", n / 100, 100);
}
