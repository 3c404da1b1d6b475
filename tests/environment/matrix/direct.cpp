// Functions, contexts and forward mode, by templates alone.
#include "layers.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/log.hpp>
#include <overdub/contexts/trace.hpp>
#include <overdub/derivative.hpp>
#include <overdub/overdub.hpp>

#include <cmath>
#include <sstream>

namespace od = overdub;

namespace {
inline constexpr auto square = od::fn<"square">([](auto x) { return x * x; });
inline constexpr auto wave = od::fn<"wave">([](auto x) { return sin(square(x)); });
} // namespace

bool direct_is_right() {
  od::contexts::count counted;
  double const y = od::run(counted, wave, 3.0);
  std::ostringstream text;
  od::contexts::log log(text);
  od::run(log, wave, 3.0);
  od::contexts::recording spans;
  od::run(od::contexts::trace{}, wave, 3.0);
  double const slope = od::derivative(wave, 3.0), by_hand = 6.0 * std::cos(9.0);
  return y == std::sin(9.0) && text.str().find("square(3)") != text.str().npos &&
         spans.statistics().records == 4 && std::abs(slope - by_hand) < 1e-12;
}
