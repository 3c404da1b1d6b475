#include "native.hpp"

#include "numerics.hpp"

std::vector<short>& native_notes() {
  static std::vector<short> all;
  return all;
}

namespace numerics {
double native_scaled(double x, int k) { return k == 0 ? 3 * x : k - x * 0.2 - 1; }
void native_note(short k) noexcept { native_notes().push_back(k); }
unsigned char native_next(unsigned char byte) noexcept { return static_cast<unsigned char>(byte + 1); }
bool native_is_odd(long k) noexcept { return k % 2 != 0; }
float native_half(float x) noexcept { return x / 2; }
native_point native_turned(native_point p, float by) noexcept { return {p.y * by, p.z, p.x - by}; }
native_count native_counted(native_count c) noexcept { return {c.sum - 7, c.count * 3}; }
} // namespace numerics
