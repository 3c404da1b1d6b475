// incremental: a Gibbs sampler that assigns points to one of three normals. A changed assignment recomputes the term of its point alone;
// a changed mean recomputes the terms of its points.
#include <overdub/distributions.hpp>
#include <overdub/incremental.hpp>
#include <overdub/overdub.hpp>
#include <overdub/random.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <vector>

namespace od = overdub;
namespace ds = overdub::distributions;

// The log density of points x, which z assigns to normals with these means.
inline constexpr auto score = od::fn<"score">([](auto const& z, auto const& x, auto const& means) {
  auto const point = [&](auto k, auto y) { return ds::log_density(ds::normal(means[k], 1.0), y); };
  return od::sum(od::map(point, z, x));
});

int main() {
  od::array<double> const means{-4, 0, 4};
  od::random_generator random(od::random_key(1));
  std::vector<double> x;
  for (int i = 0; i < 300; ++i) x.push_back(means[i % 3] + ds::draw(ds::normal(0.0, 1.0), random));
  od::array<std::int64_t> const nowhere = od::fill(300, std::int64_t{1});

  auto followed = od::incremental(score, nowhere, od::array<double>::copy_of(x), means);
  std::vector<std::int64_t> z(x.size(), 1);
  for (int sweep = 0; sweep < 3; ++sweep)
    for (std::size_t i = 0; i < x.size(); ++i) {
      std::array<double, 3> weight; // of each normal, relative to the present one
      for (std::int64_t k = 0; k < 3; ++k) {
        followed.set_at<0>(i, k);
        followed.propose();
        weight[static_cast<std::size_t>(k)] = std::exp(followed.difference());
        followed.rollback();
      }
      double const u = random.uniform() * (weight[0] + weight[1] + weight[2]);
      z[i] = u < weight[0] ? 0 : u < weight[0] + weight[1] ? 1 : 2;
      followed.set_at<0>(i, z[i]);
      followed.commit();
    }

  int right = 0;
  for (std::size_t i = 0; i < z.size(); ++i) right += z[i] == static_cast<std::int64_t>(i % 3);
  std::cout << right << " of 300 points are where they came from\n";

  followed.set_at<2>(1, 0.5);
  followed.propose();
  std::cout << "a mean changes:\n" << followed.explain();
  followed.rollback();
  double const again = score(od::array<std::int64_t>::copy_of(z), od::array<double>::copy_of(x), means);
  return right > 270 && std::abs(followed.value() - again) < 1e-9 * std::abs(again) ? 0 : 1;
}
