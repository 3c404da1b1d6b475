// Lifting. The functions of lifted/functions.cpp, ordinary C++, are compiled by clang at -O3 -march=native -ffp-contract=off, and lifted
// from bitcode that is not optimised and compiled to machine code by overdub: their times, and those of their reverse gradients against the
// gradients of the same functions staged (models.hpp, adbench_models.hpp).
#include "adbench_models.hpp"
#include "gradient.hpp"
#include "lifted/functions.hpp"
#include "models.hpp"
#include "ratio.hpp"

#include <overdub/jit/jit.hpp>
#include <overdub/lift.hpp>
#include <overdub/pass/pipeline.hpp>
#include <overdub/reverse/gradient_program.hpp>
#include <overdub/stage/stage.hpp>

#include <array>
#include <cstring>
#include <string>
#include <tuple>

namespace {

using namespace bench;
using A = array<double>;

/// The lifted function of this name.
overdub::ir::program lifted_function(std::string const& name) {
  static overdub::lift_result const all = overdub::lift_file(OVERDUB_BENCH_BITCODE, {.is_trusted = true});
  overdub::ir::program p = all.program;
  for (std::uint32_t k = 0; k < p.functions.size(); ++k)
    if (std::string_view const full = p.name_of(overdub::ir::function_id(k));
        full.starts_with("lifted::" + name + "(") && full.ends_with(")"))
      return p.entry = overdub::ir::function_id(k), p;
  std::printf("MISS: %s is not lifted\n", name.c_str());
  std::exit(1);
}
overdub::executable compiled(overdub::ir::program p) {
  overdub::pass::default_pipeline(p);
  return overdub::jit::compile(p);
}
/// Its gradient by the named parameters: it takes the cotangent of the first result last, and returns that result and the derivatives.
overdub::executable gradient_of(overdub::ir::program p, std::vector<std::size_t> const& parameters) {
  overdub::ir::function const& f = p[p.entry];
  overdub::gradient_request wanted;
  wanted.inputs.resize(f.parameters().size());
  wanted.results.resize(f.results.size());
  for (std::size_t const k : parameters) wanted.inputs[k] = true;
  wanted.results[0] = true;
  p.entry = overdub::add_gradient(p, p.entry, wanted);
  return compiled(std::move(p));
}

// Checks that a lifted function returns the same bits.
void check_bits(char const* what, double expected, double found) {
  if (std::memcmp(&expected, &found, sizeof found) == 0) return;
  ++misses;
  std::printf("MISS: %s: %.17g natively, %.17g lifted\n", what, expected, found);
}
void check_near(char const* what, A const& expected, A const& found) {
  for (i64 k = 0; k < expected.size(); ++k) check(what, "staged", expected[k], found[k], 1e-9);
}

// ---- the functions

void swing() {
  constexpr i64 steps = 1000;
  auto run = compiled(lifted_function("pendulum")).instance();
  auto const natively = [&] { return lifted::pendulum(opaque(steps), opaque(1.0), 0.5, opaque(0.1)); };
  auto const lifted = [&] { return run.call<double>(opaque(steps), opaque(1.0), 0.5, opaque(0.1)); };
  check_bits("pendulum", natively(), lifted());
  compare<allocating::forbidden>(
      "a damped pendulum, 1,000 steps", way{"clang", 0, natively}, way{"lifted", 1.15, lifted});

  using slopes = std::tuple<double, double, double, double>;
  auto of_staged =
      gradient_of(overdub::stage(pendulum, overdub::signature<i64, double, double, double>), {1, 2, 3})
          .instance();
  auto of_lifted = gradient_of(lifted_function("pendulum"), {1, 2, 3}).instance();
  auto const by = [&](auto& code) {
    return code.template call<slopes>(opaque(steps), opaque(1.0), 0.5, opaque(0.1), 1.0);
  };
  check("pendulum", "staged", std::get<1>(by(of_staged)), std::get<1>(by(of_lifted)), 1e-9);
  compare<allocating::allowed>(
      "its gradient", way{"staged", 0, [&] { return by(of_staged); }},
      way{"lifted", 1.1, [&] { return by(of_lifted); }});
}

void gaussian_mixture() {
  mixture_example e;
  constexpr std::size_t d = mixture_example::d, k = mixture_example::k;
  numbers scales(d * k), traces(k), terms(k);
  auto run = compiled(lifted_function("mixture")).instance();
  using result = std::tuple<double, A, A, A>;
  auto const natively = [&] {
    forget_memory();
    return lifted::mixture(
        opaque(int{d}), opaque(int{k}), opaque(static_cast<int>(e.n)), e.weights.data(), e.means.data(),
        e.diagonals.data(), e.factors.data(), e.points.data(), scales.data(), traces.data(), terms.data());
  };
  auto const lifted = [&] {
    return run.call<result>(
        i64{d}, i64{k}, static_cast<i64>(e.n), e.weights, e.means, e.diagonals, e.factors, e.points, scales,
        traces, terms);
  };
  check_bits("mixture", natively(), std::get<0>(lifted()));
  compare<allocating::allowed>(e.name.c_str(), way{"clang", 0, natively}, way{"lifted", 1.15, lifted});

  using slopes = std::tuple<double, A, A, A, A>;
  auto of_staged =
      gradient_of(overdub::stage(mixture, overdub::signature<i64, i64, i64, A, A, A, A, A>), {3, 4, 5, 6})
          .instance();
  using lifted_slopes = std::tuple<double, A, A, A, A, A, A, A>;
  auto of_lifted = gradient_of(lifted_function("mixture"), {3, 4, 5, 6}).instance();
  auto const staged_gradient = [&] {
    return of_staged.call<slopes>(
        i64{d}, i64{k}, static_cast<i64>(e.n), e.weights, e.means, e.diagonals, e.factors, e.points, 1.0);
  };
  auto const lifted_gradient = [&] {
    return of_lifted.call<lifted_slopes>(
        i64{d}, i64{k}, static_cast<i64>(e.n), e.weights, e.means, e.diagonals, e.factors, e.points, scales,
        traces, terms, 1.0);
  };
  auto const expected = staged_gradient();
  auto const found = lifted_gradient();
  check_near("mixture", std::get<1>(expected), std::get<4>(found));
  check_near("mixture", std::get<2>(expected), std::get<5>(found));
  check_near("mixture", std::get<3>(expected), std::get<6>(found));
  check_near("mixture", std::get<4>(expected), std::get<7>(found));
  compare<allocating::allowed>(
      "its gradient", way{"staged", 0, staged_gradient}, way{"lifted", 1.1, lifted_gradient});
}

// The sum of the squares of all reprojection errors.
inline constexpr auto squared_errors = fn<"squared_errors">(
    [](auto cameras, auto points, auto weights, auto features, auto of_camera, auto of_point) {
      return overdub::sum(overdub::tabulate(overdub::size(weights), [=](auto i) {
        auto const c = of_camera[i] * 11, p = of_point[i] * 3;
        auto const camera = [=](int k) { return cameras[c + k]; };
        using T = std::decay_t<decltype(camera(0))>;
        three<T> const r{camera(0), camera(1), camera(2)},
            x{points[p] - camera(3), points[p + 1] - camera(4), points[p + 2] - camera(5)};
        T const square = inner(r, r);
        auto const seen = overdub::if_(
            square != 0.0, [=] { return turned(r, x, square); }, [=] { return turned_little(r, x); });
        std::array<T, 11> all;
        for (int k = 0; k < 11; ++k) all[static_cast<std::size_t>(k)] = camera(k);
        auto const in = in_image<T>(all, seen);
        T const u = weights[i] * (in[0] - features[2 * i]), v = weights[i] * (in[1] - features[2 * i + 1]);
        return u * u + v * v;
      }));
    });

void bundle_adjustment() {
  constexpr std::size_t cameras = 49, points = 1000, observations = 4000;
  numbers of_cameras = between(-0.5, 0.5, cameras * 11), of_points = between(-2, 2, points * 3),
          weights = between(0.5, 1.5, observations), features = between(-100, 100, 2 * observations);
  std::vector<i64> of_camera(observations), of_point(observations);
  for (std::size_t c = 0; c < cameras; ++c) {
    of_cameras[c * 11 + 6] += 500;                                  // the focal length
    for (std::size_t k : {9u, 10u}) of_cameras[c * 11 + k] *= 0.01; // distortion
  }
  for (std::size_t k = 0; k < 3; ++k) of_cameras[k] = 0; // one camera without a rotation
  for (std::size_t p = 0; p < points; ++p) of_points[p * 3 + 2] += 8;
  for (std::size_t i = 0; i < observations; ++i) {
    of_camera[i] = static_cast<i64>(i % cameras);
    of_point[i] = static_cast<i64>(i * 7 % points);
  }
  auto run = compiled(lifted_function("adjustment")).instance();
  auto const natively = [&] {
    forget_memory();
    return lifted::adjustment(
        opaque(int{observations}), of_cameras.data(), of_points.data(), weights.data(), features.data(),
        of_camera.data(), of_point.data());
  };
  auto const lifted = [&] {
    return run.call<double>(i64{observations}, of_cameras, of_points, weights, features, of_camera, of_point);
  };
  check_bits("adjustment", natively(), lifted());
  compare<allocating::allowed>(
      "bundle adjustment, 4,000 observations", way{"clang", 0, natively}, way{"lifted", 1.15, lifted});

  using slopes = std::tuple<double, A, A, A>;
  auto of_staged =
      gradient_of(
          overdub::stage(squared_errors, overdub::signature<A, A, A, A, array<i64>, array<i64>>), {0, 1, 2})
          .instance();
  auto of_lifted = gradient_of(lifted_function("adjustment"), {1, 2, 3}).instance();
  auto const staged_gradient = [&] {
    return of_staged.call<slopes>(of_cameras, of_points, weights, features, of_camera, of_point, 1.0);
  };
  auto const lifted_gradient = [&] {
    return of_lifted.call<slopes>(
        i64{observations}, of_cameras, of_points, weights, features, of_camera, of_point, 1.0);
  };
  auto const expected = staged_gradient(), found = lifted_gradient();
  check("adjustment", "staged", std::get<0>(expected), std::get<0>(found), 1e-9);
  check_near("adjustment", std::get<1>(expected), std::get<1>(found));
  check_near("adjustment", std::get<2>(expected), std::get<2>(found));
  check_near("adjustment", std::get<3>(expected), std::get<3>(found));
  compare<allocating::allowed>(
      "its gradient", way{"staged", 0, staged_gradient}, way{"lifted", 1.1, lifted_gradient});
}

void recurrent_network() {
  constexpr std::size_t b = 14, rows = 1024;
  numbers parameters = between(-1, 1, 16 * b), others = between(-1, 1, 3 * b), state(4 * b), row(b);
  numbers const start = between(-0.5, 0.5, 4 * b), sequence = between(0, 1, rows * b);
  auto run = compiled(lifted_function("lstm")).instance();
  auto const natively = [&] {
    state = start;
    forget_memory();
    return lifted::lstm(
        opaque(int{b}), opaque(int{rows}), parameters.data(), others.data(), state.data(), sequence.data(),
        row.data());
  };
  using result = std::tuple<double, A, A>;
  auto const lifted = [&] {
    return run.call<result>(i64{b}, i64{rows}, parameters, others, start, sequence, row);
  };
  check_bits("lstm", natively(), std::get<0>(lifted()));
  compare<allocating::allowed>(
      "an LSTM, two layers of 14, 1,024 rows", way{"clang", 0, natively}, way{"lifted", 1.15, lifted});

  using slopes = std::tuple<double, A, A>;
  auto of_staged =
      gradient_of(overdub::stage(lstm, overdub::signature<i64, i64, A, A, A, A>), {2, 3}).instance();
  using lifted_slopes = std::tuple<double, A, A, A, A>;
  auto of_lifted = gradient_of(lifted_function("lstm"), {2, 3}).instance();
  auto const staged_gradient = [&] {
    return of_staged.call<slopes>(i64{b}, i64{rows}, parameters, others, start, sequence, 1.0);
  };
  auto const lifted_gradient = [&] {
    return of_lifted.call<lifted_slopes>(i64{b}, i64{rows}, parameters, others, start, sequence, row, 1.0);
  };
  auto const expected = staged_gradient();
  auto const found = lifted_gradient();
  check_near("lstm", std::get<1>(expected), std::get<3>(found));
  check_near("lstm", std::get<2>(expected), std::get<4>(found));
  compare<allocating::allowed>(
      "its gradient", way{"staged", 0, staged_gradient}, way{"lifted", 1.1, lifted_gradient});
}

} // namespace

int main(int count, char** names) {
  struct {
    std::string_view name;
    void (*run)();
  } constexpr questions[] = {
      {"pendulum", swing},
      {"mixture", gaussian_mixture},
      {"adjustment", bundle_adjustment},
      {"lstm", recurrent_network}};
  for (auto const& q : questions) try {
      if (count < 2 || q.name == names[1]) q.run();
    } catch (overdub::error const& e) {
      ++misses;
      std::printf("MISS: %s\n", e.what());
    }
  return misses > 0;
}
