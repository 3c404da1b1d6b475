// A line through measurements of the Old Faithful geyser: one regression function, run without contexts, and
// in contexts that observe each call. Run it in the root of the repository, or pass the path of a table.
#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/log.hpp>
#include <overdub/overdub.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace od = overdub;
namespace contexts = overdub::contexts;

// ---- the program, which is independent of contexts

inline constexpr auto predict = od::fn<"predict">([](auto a, auto b, auto x) { return a + b * x; });

inline constexpr auto squared_error = od::fn<"squared_error">([](auto a, auto b, auto x, auto y) {
  auto const prediction = predict(a, b, x);
  auto const residual = y - prediction;
  return residual * residual;
});

inline constexpr auto loss = od::fn<"loss">([](auto a, auto b, auto xs, auto ys) {
  auto const errors = od::map([&](auto x, auto y) { return squared_error(a, b, x, y); }, xs, ys);
  auto const total = od::sum(errors);
  return total / od::convert<double>(od::size(xs));
});

// ---- the table

struct table {
  std::vector<double> eruption, waiting; // minutes
};

table read(std::string const& path) {
  std::ifstream file(path);
  table rows;
  std::string line;
  while (std::getline(file, line)) {
    double x = 0, y = 0;
    char comma = 0;
    if (std::istringstream(line) >> x >> comma >> y) rows.eruption.push_back(x), rows.waiting.push_back(y);
  }
  return rows;
}

void plot(table const& rows, double a, double b) {
  constexpr int width = 64, height = 16;
  constexpr double left = 1.4, right = 5.3, low = 40, high = 98;
  std::vector<std::string> canvas(height, std::string(width, ' '));
  auto draw = [&](double x, double y, char mark) {
    int const column = static_cast<int>((x - left) / (right - left) * width);
    int const row = static_cast<int>((high - y) / (high - low) * height);
    if (column >= 0 && column < width && row >= 0 && row < height)
      canvas[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)] = mark;
  };
  for (std::size_t i = 0; i < rows.eruption.size(); ++i) draw(rows.eruption[i], rows.waiting[i], '.');
  for (int c = 0; c < width; ++c) {
    double const x = left + (right - left) * (c + 0.5) / width;
    draw(x, a + b * x, '#');
  }
  std::printf("\nwaiting, minutes: %.0f to %.0f\n", low, high);
  for (auto const& row : canvas) std::printf("  |%s\n", row.c_str());
  std::printf("  +%s\n   eruption, minutes: %.1f to %.1f\n", std::string(width, '-').c_str(), left, right);
}

int main(int argc, char** argv) {
  table const rows = read(argc > 1 ? argv[1] : "examples/data/old_faithful.csv");
  if (rows.eruption.empty()) return std::puts("no rows: run this in the root of the repository"), 1;
  auto const xs = od::array<double>::borrow(rows.eruption);
  auto const ys = od::array<double>::borrow(rows.waiting);
  auto const n = static_cast<double>(xs.size());

  std::printf("loss(a, b) is the mean squared error of waiting = a + b * eruption, over %.0f eruptions\n", n);

  std::printf("\n-- without contexts\nloss(30, 10) = %.4f\n", loss(30.0, 10.0, xs, ys));

  std::printf("\n-- in log, on the first 2 rows\n");
  contexts::log log(std::cout);
  od::run(log, loss, 30.0, 10.0, od::array<double>{xs[0], xs[1]}, od::array<double>{ys[0], ys[1]});

  contexts::count count;
  od::run(count, loss, 30.0, 10.0, xs, ys);
  std::printf(
      "\n-- in count\n%ld calls of functions, %ld of primitives\n", count.functions, count.primitives);

  // The gradient by both parameters in one run; the loss is quadratic, so that three gradients determine
  // its minimum.
  auto const gradient = [&](double a, double b) {
    using direction = contexts::tangents<double, 2>;
    contexts::forward_along<2> forward;
    return od::run(forward, loss, od::tag(a, direction{1, 0}), od::tag(b, direction{0, 1}), xs, ys).metadata;
  };
  auto const g = gradient(0, 0), along_a = gradient(1, 0), along_b = gradient(0, 1);
  double const haa = along_a[0] - g[0], hab = along_a[1] - g[1], hbb = along_b[1] - g[1];
  double const det = haa * hbb - hab * hab;
  double const a = (hab * g[1] - hbb * g[0]) / det, b = (hab * g[0] - haa * g[1]) / det;
  std::printf(
      "\n-- in forward, along a and b at once\ngradient at (30, 10) = (%.4f, %.4f)\n", gradient(30, 10)[0],
      gradient(30, 10)[1]);
  std::printf(
      "Newton's step to the minimum: waiting = %.4f + %.4f * eruption, loss %.4f\n", a, b,
      loss(a, b, xs, ys));

  std::printf("\n-- in compose(count, forward), and in compose(forward, count): d loss / d b at (30, 10)\n");
  contexts::count program, derivative;
  auto const r = od::run(od::compose(program, contexts::forward{}), loss, 30.0, od::tag(10.0, 1.0), xs, ys);
  od::run(od::compose(contexts::forward{}, derivative), loss, 30.0, od::tag(10.0, 1.0), xs, ys);
  std::printf(
      "derivative %.4f; the program makes %ld calls, with its derivative %ld\n", r.metadata, program.calls(),
      derivative.calls());

  plot(rows, a, b);

  // The same line from the closed formula.
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (std::size_t i = 0; i < rows.eruption.size(); ++i) {
    sx += xs.data()[i], sy += ys.data()[i];
    sxx += xs.data()[i] * xs.data()[i], sxy += xs.data()[i] * ys.data()[i];
  }
  double const slope = (n * sxy - sx * sy) / (n * sxx - sx * sx);
  bool const right = std::abs(b - slope) < 1e-9 && std::abs(a - (sy - slope * sx) / n) < 1e-8 &&
                     std::abs(r.metadata - gradient(30, 10)[1]) < 1e-9 && program.calls() == count.calls();
  if (!right) std::puts("the fit disagrees with the closed formula");
  return right ? 0 : 1;
}
