#include "exceptions.hpp"

#include <cmath>
#include <stdexcept>
#include <vector>

namespace {

struct failure {
  int code;
  double x;
};
struct special_failure : failure {
  double more;
};
struct other {
  float y;
};
struct own_error : std::runtime_error {
  explicit own_error(int k) : std::runtime_error("own"), code(k) {}
  int code;
};
struct adds {
  double* to;
  double by;
  ~adds() { *to += by; }
};

double checked(double x) {
  if (x < -3) throw 7;
  if (x < -2) throw failure{2, x};
  if (x < -1) throw std::runtime_error("negative");
  if (x > 3) throw other{2.5f};
  return 2 * x;
}
[[gnu::noinline]] double twice_checked(double x, double* log) {
  adds const first{log, 1};
  double const y = checked(x);
  adds const second{log, 10};
  return y + checked(x + 1);
}
struct root {
  explicit root(double x) : value(std::sqrt(x)) {
    if (x < 0) throw failure{1, x};
  }
  ~root() { value = 0; }
  double value;
};
double without_negative(double x) {
  try {
    return checked(x);
  } catch (failure const& f) {
    return f.x - 1;
  }
}
struct catches_in_destructor {
  double* log;
  ~catches_in_destructor() {
    try {
      *log += checked(*log);
    } catch (...) {
      *log += 1000;
    }
  }
};

} // namespace

double by_type(double x) {
  try {
    return checked(x);
  } catch (std::exception const&) {
    return -1;
  } catch (failure const& f) {
    return f.code + f.x;
  } catch (int k) {
    return k;
  } catch (...) {
    return 100;
  }
}
double with_clean_up(double x) {
  double log = 0, y = 0;
  try {
    adds const outer{&log, 100};
    y = twice_checked(x, &log);
  } catch (...) {
    y = -5;
  }
  return 1000 * y + log;
}
double element_or(double const* x, int n, int i) {
  std::vector<double> const v(x, x + n);
  try {
    return v.at(static_cast<std::size_t>(i)) + 1;
  } catch (std::out_of_range const&) {
    return -1;
  }
}
double by_base(double x) {
  try {
    if (x < 0) {
      special_failure s;
      s.code = 3;
      s.x = x;
      s.more = 2 * x;
      throw s;
    }
    if (x < 1) throw own_error(5);
    return x;
  } catch (own_error const& e) {
    return e.code;
  } catch (other const& o) {
    return o.y;
  } catch (failure& f) {
    f.code += 1;
    return f.code + f.x;
  }
}
double by_value(double x) {
  try {
    if (x > 0) throw failure{4, x};
  } catch (failure f) {
    f.x *= 2;
    return f.x + f.code;
  }
  return 0;
}
double nested(double x) {
  double s = 0;
  try {
    try {
      s += checked(x);
    } catch (failure const& f) {
      s += 1;
      throw other{static_cast<float>(f.x)};
    } catch (int k) {
      s += k;
    }
    s += checked(x + 2);
  } catch (other const& o) {
    s += 10 * o.y;
  } catch (failure const& f) {
    s += 20 * f.x;
  } catch (...) {
    s += 500;
  }
  return s;
}
int count_of_failures(double const* x, int n) {
  int failures = 0;
  for (int i = 0; i < n; ++i) {
    try {
      if (checked(x[i]) > 5) break;
    } catch (failure const&) {
      continue;
    } catch (...) {
      ++failures;
    }
  }
  return failures;
}
double through_handlers(double x) {
  try {
    return without_negative(x);
  } catch (other const& o) {
    return o.y;
  } catch (...) {
    return -2;
  }
}
double from_constructor(double x) {
  try {
    root const a(x), b(x - 1);
    return a.value + b.value;
  } catch (failure const& f) {
    return f.x;
  }
}
double in_destructor(double x) {
  double log = x;
  try {
    catches_in_destructor const c{&log};
    log += checked(x + 1);
  } catch (...) {
    log += 10000;
  }
  return log;
}
double passes_others(double x) {
  try {
    return checked(x);
  } catch (int k) {
    return k;
  }
}
double divides(int a, int b) {
  try {
    if (a < 0) throw 3;
    return a / b;
  } catch (...) {
    return -1;
  }
}
double of_library(double x) {
  try {
    if (x < -1) throw std::overflow_error("x");
    if (x < 0) throw std::domain_error("x");
    std::vector<double> v(3, x);
    return v.at(static_cast<std::size_t>(x));
  } catch (std::range_error const&) {
    return 1;
  } catch (std::runtime_error const&) {
    return 2;
  } catch (std::out_of_range const&) {
    return 3;
  } catch (std::exception const&) {
    return 4;
  }
}
