// A function changes its argument through a reference.
// expect first: overdub: the body of this function takes a parameter `auto&`, and arguments are passed by value
#include <overdub/contexts/count.hpp>
#include <overdub/overdub.hpp>

#include <vector>

#ifdef OVERDUB_MENDED
constexpr auto append = overdub::fn<"append">([](auto v, auto x) {
  v.push_back(x);
  return v;
});
#else
constexpr auto append = overdub::fn<"append">([](auto& v, auto x) {
  v.push_back(x);
  return v.size();
});
#endif

auto run(std::vector<double> v) {
  overdub::contexts::count count;
  return overdub::run(count, append, v, 1.0);
}
