// Random updates of a program, compared with new runs.
#pragma once

#include "pass/laws.hpp"

#include <overdub/compile/tiers.hpp>
#include <overdub/execute/datum_text.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/incremental/incremental_program.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace incremental_updates {

using namespace overdub;

struct input {
  ir::scalar element;
  std::vector<i64> shape = {};
  i64 least = -1, most = 3; // of integers
  bool grows = false;       // together with all other inputs that grow
};
using inputs = std::vector<input>;

class updates {
public:
  updates(std::uint64_t seed, inputs const& of) : of_(of), random_(seed) {}

  std::vector<datum> arguments() {
    std::vector<datum> all;
    for (input const& i : of_) all.push_back(i.shape.empty() ? scalar(i) : whole(i));
    return all;
  }
  // Changes an input or two of the program, and the arguments.
  void change(incremental_program& p, std::vector<datum>& arguments) {
    if (random_.chance(12)) append(p, arguments);
    std::uint64_t const count = random_.below(4);
    for (std::uint64_t k = 0; k < count; ++k) {
      auto const i = static_cast<std::uint32_t>(random_.below(arguments.size()));
      datum& d = arguments[i];
      if (d.type().rank == 0) {
        d = scalar(of_[i]);
        p.set(i, d);
        continue;
      }
      if (random_.chance(10)) {
        input now = of_[i];
        now.shape.assign(d.shape().begin(), d.shape().end());
        d = whole(now);
        p.set(i, d);
        continue;
      }
      bool const is_long = d.shape()[0] > 16;
      for (std::uint64_t n = is_long && random_.chance(60) ? 2 + random_.below(9) : 1; n > 0; --n)
        change_element(p, i, d);
    }
  }
  // An element of the first array that has elements: all updates have one change signature.
  void change_alike(incremental_program& p, std::vector<datum>& arguments) {
    for (std::uint32_t i = 0; i < arguments.size(); ++i)
      if (arguments[i].type().rank > 0 && arguments[i].size() > 0) return change_element(p, i, arguments[i]);
  }
  // A number.
  void change_number(incremental_program& p, std::vector<datum>& arguments) {
    for (std::uint32_t i = 0; i < arguments.size(); ++i)
      if (arguments[i].type() == ir::f64) {
        arguments[i] = scalar(of_[i]);
        p.set(i, arguments[i]);
      }
  }
  bool chance(int percent) { return random_.chance(percent); }

private:
  void change_element(incremental_program& p, std::uint32_t i, datum& d) {
    datum const x = scalar(of_[i]);
    std::vector<i64> path;
    for (i64 const extent : d.shape())
      path.push_back(static_cast<i64>(random_.below(static_cast<std::uint64_t>(extent))));
    if (path.size() == 1) // set_at has an overload for one index
      p.set_at(i, path[0], x.bits());
    else
      p.set_at(i, path, x.bits());
    i64 at = 0;
    for (std::size_t axis = 0; axis < path.size(); ++axis) at = at * d.shape()[axis] + path[axis];
    d = d.type().element == ir::scalar::f64 ? with<double>(d, at, x) : with<i64>(d, at, x);
  }
  // Appends elements to all inputs that grow, or to one.
  void append(incremental_program& p, std::vector<datum>& arguments) {
    std::vector<std::uint32_t> growing;
    for (std::uint32_t i = 0; i < of_.size(); ++i)
      if (of_[i].grows) growing.push_back(i);
    if (growing.empty()) return;
    if (random_.chance(10)) growing = {growing[random_.below(growing.size())]};
    for (std::uint64_t k = random_.chance(35) ? 3 + random_.below(6) : 1 + random_.below(2); k > 0; --k)
      for (std::uint32_t const i : growing) {
        datum& d = arguments[i];
        input row = of_[i];
        row.shape.erase(row.shape.begin());
        datum const x = row.shape.empty() ? scalar(row) : whole(row);
        p.append(i, x);
        d = d.type().element == ir::scalar::f64 ? longer<double>(d, x) : longer<i64>(d, x);
      }
  }
  template <class T>
  static datum longer(datum const& d, datum const& x) {
    std::vector<T> all(d.elements<T>().begin(), d.elements<T>().end());
    if (x.type().rank == 0)
      all.push_back(x.as<T>());
    else
      all.insert(all.end(), x.elements<T>().begin(), x.elements<T>().end());
    std::vector<i64> shape(d.shape().begin(), d.shape().end());
    ++shape[0];
    return datum::of(shape, array<T>::copy_of(all));
  }
  double number() { return static_cast<double>(random_.below(64)) / 8 - 4 + random_.below(100) / 300.0; }
  i64 integer(input const& i) {
    return i.least + static_cast<i64>(random_.below(static_cast<std::size_t>(i.most - i.least + 1)));
  }
  datum scalar(input const& i) {
    switch (i.element) {
    case ir::scalar::i64:
      return datum(integer(i));
    case ir::scalar::f64:
      return datum(number());
    case ir::scalar::f32:
      return datum(static_cast<float>(number()));
    default:
      return datum(random_.chance(50));
    }
  }
  datum whole(input const& of) {
    i64 n = 1;
    for (i64 const extent : of.shape) n *= extent;
    std::vector<double> reals;
    std::vector<i64> integers;
    for (i64 k = 0; k < n; ++k) reals.push_back(number()), integers.push_back(integer(of));
    return of.element == ir::scalar::f64 ? datum::of(of.shape, array<double>::copy_of(reals))
                                         : datum::of(of.shape, array<i64>::copy_of(integers));
  }
  template <class T>
  static datum with(datum const& d, i64 at, datum const& x) {
    std::vector<T> all(d.elements<T>().begin(), d.elements<T>().end());
    all[static_cast<std::size_t>(at)] = x.as<T>();
    return datum::of(d.shape(), array<T>::copy_of(all));
  }
  inputs const& of_;
  random_program::random_numbers random_;
};

inline bool is_close(double x, double y) {
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  return x == y || std::abs(x - y) <= 1e-9 * std::max({1.0, std::abs(x), std::abs(y)});
}
template <class T>
bool all_close(datum const& a, datum const& b) {
  auto const x = a.elements<T>(), y = b.elements<T>();
  for (i64 i = 0; i < x.size(); ++i)
    if (!is_close(static_cast<double>(x[i]), static_cast<double>(y[i]))) return false;
  return true;
}
inline bool are_close(datum const& a, datum const& b) {
  if (a == b) return true;
  if (a.type() != b.type() || a.shape() != b.shape()) return false;
  if (a.type() == ir::f64) return is_close(a.as<double>(), b.as<double>());
  if (a.type() == ir::f32) return std::abs(a.as<float>() - b.as<float>()) <= 1e-4f * std::abs(a.as<float>());
  if (a.type().element == ir::scalar::f64) return all_close<double>(a, b);
  return false;
}

inline std::optional<std::vector<datum>>
results_of(executable const& f, std::vector<datum> const& arguments) {
  try {
    return f.run(arguments);
  } catch (error const&) {
    return {};
  }
}

struct verdict {
  std::string why = {}; // empty: equal
  bool was_rejected = false;
  std::size_t iterations = 0, lists = 0, differences = 0, loops = 0, nested = 0, appended = 0,
              appended_lists = 0, paths = 0,
              unchanged = 0; // the updates that ran such operations in part
  std::size_t plain = 0;     // the updates that were plain runs
};

inline verdict
judge(ir::program const& p, std::uint64_t seed, inputs const& of, compile_options const& o = {}) {
  updates u(seed, of);
  std::vector<datum> now = u.arguments();
  executable const again(p);
  if (!results_of(again, now)) return {};
  std::unique_ptr<incremental_program> followed, saved_copy;
  try {
    followed = std::make_unique<incremental_program>(std::make_shared<update_program_cache>(p, o), now);
  } catch (incremental_error const&) {
    return {.was_rejected = true};
  }
  verdict made;
  constexpr int mixed = 8, all = mixed + 3;
  for (int k = 0; k < all; ++k) {
    bool const is_alike = k >= mixed;
    if (k == 3) *followed = incremental_program(*followed);
    if (k == 1) saved_copy = std::make_unique<incremental_program>(*followed);
    if (k > 1 && k % 2 == 0 &&
        !is_alike) { // the target of an assignment has other values, and bound update programs
      std::swap(followed, saved_copy);
      *followed = *saved_copy;
    }
    if (k == 5) wait_for_compilations(); // so that code is replaced in between
    std::vector<datum> next = now;
    if (is_alike)
      u.change_alike(*followed, next);
    else
      u.change(*followed, next);
    auto const wanted = results_of(again, next);
    bool threw = false;
    try {
      followed->propose();
      std::string const ran = followed->explain();
      made.iterations +=
          ran.find(": one iteration") != ran.npos || ran.find(": a list of iterations") != ran.npos;
      made.lists += ran.find(": a list of iterations") != ran.npos;
      made.loops += ran.find(": from the first") != ran.npos;
      made.nested +=
          ran.find("it is nested in a loop") != ran.npos && ran.find(": from the first") != ran.npos;
      made.paths += ran.find(": updated along a path") != ran.npos;
      made.unchanged += ran.find(": unchanged") != ran.npos;
      made.appended += ran.find(": one appended iteration") != ran.npos;
      made.appended_lists += ran.find(": the appended iterations") != ran.npos;
      made.differences += ran.find(": updated by the difference") != ran.npos;
    } catch (error const&) {
      threw = true;
    }
    if (threw != !wanted) return {.why = threw ? "it throws" : "it does not throw"};
    if (threw || u.chance(40)) {
      if (is_alike)
        followed->rollback();
      else if (incremental_program const same(*followed); k == 6) // without pending changes
        *followed = incremental_program(same);
      else if (k > 3)
        *followed = same;
      else
        followed->rollback();
    } else {
      followed->commit();
      now = next;
    }
    auto const is = results_of(again, now);
    for (std::size_t i = 0; i < is->size(); ++i)
      if (!are_close(followed->result(i), (*is)[i]))
        return {
            .why = "update " + std::to_string(k) + ": result " + std::to_string(i) + " is " +
                   text_of(followed->result(i)) + ", and from the beginning " + text_of((*is)[i])};
  }
  return made;
}

// Many updates of few change signatures in a row, so that the work of each is counted, although the functions are small.
inline verdict
judge_choices(ir::program const& p, std::uint64_t seed, inputs const& of, compile_options const& o = {}) {
  updates u(seed, of);
  std::vector<datum> now = u.arguments();
  executable const again(p);
  if (!results_of(again, now)) return {};
  auto const programs = std::make_shared<update_program_cache>(p, o);
  programs->minimum_work = 0;
  incremental_program followed(programs, now);
  verdict made;
  int kind = 0;
  for (int k = 0; k < 150; ++k) {
    if (k % 22 == 0 || u.chance(5)) kind = kind == 1 ? 0 : 1;
    std::vector<datum> next = now;
    if (u.chance(4))
      u.change(followed, next);
    else if (kind == 0)
      u.change_alike(followed, next);
    else
      u.change_number(followed, next);
    auto const wanted = results_of(again, next);
    bool threw = false, was_plain = false;
    std::vector<std::uint64_t> proposed;
    try {
      followed.propose();
      was_plain = followed.explain().find("\na plain run") != std::string::npos;
      for (std::size_t i = 0; wanted && i < wanted->size(); ++i) proposed.push_back(followed.proposed(i));
    } catch (error const&) {
      threw = true;
    }
    if (threw != !wanted) return {.why = threw ? "it throws" : "it does not throw"};
    made.plain += was_plain;
    if (threw || u.chance(25)) {
      followed.rollback();
    } else {
      followed.commit();
      now = next;
      for (std::size_t i = 0; i < wanted->size(); ++i)
        if ((*wanted)[i].type().rank == 0 && followed.value(i) != proposed[i])
          return {.why = "update " + std::to_string(k) + " commits another value than it proposed"};
    }
    auto const is = results_of(again, now);
    for (std::size_t i = 0; i < is->size(); ++i)
      if (!are_close(followed.result(i), (*is)[i]))
        return {
            .why = "update " + std::to_string(k) + ": result " + std::to_string(i) + " is " +
                   text_of(followed.result(i)) + ", and from the beginning " + text_of((*is)[i])};
  }
  return made;
}

inline std::uint64_t programs(std::uint64_t otherwise) {
  char const* const asked = std::getenv("OVERDUB_PROGRAMS");
  return asked == nullptr ? laws::seeds(otherwise) : std::strtoull(asked, nullptr, 10);
}

} // namespace incremental_updates
