// The choices of a trace as numbers in a row, with names: what tables and files hold.
#pragma once

#include <overdub/contexts/models/trace.hpp>
#include <overdub/core/floating_point.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace overdub::models {
inline namespace OVERDUB_EXECUTE_ABI {

/// Which numbers of a row are which choices: those of whole sites, in the order of the program
/// (where none depends on another, by address), row by row. Names are Stan's, and count
/// from 1: theta[1], theta[2]; school/theta[1] is school.theta[1]. Truths are 0 and 1. Where a choice of a conditional site was not made,
/// NaN stands.
class number_row {
public:
  /// The sites that are selected as a whole. Throws model_error for one of which not each trace has as many numbers.
  number_row(trace const& like, selection const& of) {
    like.core().check(of);
    for (address const& a : of.addresses())
      if (!a.indices.empty())
        throw model_error(message(
            "overdub: %.80s is one of several choices, and rows have all of a site: select \"%.80s\"",
            text_of(a).c_str(), a.site.c_str()));
    for (std::uint32_t s = 0; s < like.values().size(); ++s) {
      site const& each = like.core().sites()[s];
      if (of.extent(each.address) <= 0) continue;
      if (each.is_counted || each.is_resized || each.varies_in_size ||
          (each.is_conditional && each.type.rank > 0))
        throw model_error(message(
            "overdub: the choice \"%s\" is an array in a branch, or of a map that makes as many turns as "
            "other "
            "choices say: it has not as many numbers in each draw; leave it out of what is kept",
            each.address.c_str()));
      sites_.push_back({s, each.address, each.type_of_all(), like.values()[s].shape(), each.is_conditional});
      add_names(each.address, sites_.back().shape);
    }
  }

  std::size_t size() const { return names_.size(); }
  std::vector<std::string> const& names() const { return names_; }

  /// Writes the numbers of a trace, or of one that is changed; integers over 2^53 as the nearest double. Its choices have the shapes of those
  /// of the first trace.
  template <class Trace>
  void write(
      Trace const& t, std::span<double> out, double absent = std::numeric_limits<double>::quiet_NaN()) const {
    std::size_t next = 0;
    for (one_site const& s : sites_) {
      std::span<double> const own = out.subspan(next, count(s));
      next += own.size();
      datum const x = t.values(s.number);
      if (s.type.rank == 0)
        own[0] = number(x);
      else
        execute::with_type(s.type.element, [&]<class T>(T) {
          std::ranges::transform(x.elements<T>(), own.begin(), [](T e) { return static_cast<double>(e); });
        });
      if (s.is_conditional) write_absent(t.presence(s.number), own, absent);
    }
  }
  std::vector<double> of(trace const& t) const {
    std::vector<double> all(size());
    write(t, all);
    return all;
  }
  /// The choices that numbers stand for, of conditional sites numbers and truths. Throws model_error where an integer or a truth stands,
  /// and a number is none.
  choice_map choices(std::span<double const> row) const {
    choice_map all;
    std::size_t next = 0;
    for (one_site const& s : sites_)
      execute::with_type(s.type.element, [&]<class T>(T) {
        std::span<double const> const own = row.subspan(next, count(s));
        next += own.size();
        if (s.is_conditional) { // those that were made
          std::vector<i64> at;
          for (std::size_t k = 0; k < own.size(); ++k) {
            if (overdub::is_nan(own[k])) continue;
            indices_of(s.shape, k, at);
            all.set(s.address, at, datum(choice<T>(s, own[k])));
          }
        } else if (s.type.rank == 0) {
          all.set(s.address, {}, datum(choice<T>(s, own[0])));
        } else {
          auto const n = static_cast<i64>(own.size());
          overdub::detail::array_builder<T> out(n);
          for (i64 i = 0; i < n; ++i) out.put(i, choice<T>(s, own[static_cast<std::size_t>(i)]));
          all.set(s.address, {}, datum::of(s.shape, out.finish(n)));
        }
      });
    return all;
  }

private:
  struct one_site {
    std::uint32_t number;
    std::string address;
    ir::type type;
    datum::extents shape;
    bool is_conditional;
  };
  static std::size_t count(one_site const& s) { // 1, where there are no axes
    std::size_t n = 1;
    for (i64 const extent : s.shape) n *= static_cast<std::size_t>(extent);
    return n;
  }
  static void write_absent(datum const& made, std::span<double> out, double absent) {
    if (made.type().rank == 0) {
      if (!made.as<bool>()) std::ranges::fill(out, absent);
      return;
    }
    auto const& each = made.elements<bool>();
    for (std::size_t k = 0; k < out.size(); ++k)
      if (!each[static_cast<i64>(k)]) out[k] = absent;
  }
  template <class T>
  static T choice(one_site const& s, double x) {
    if constexpr (std::is_integral_v<T>)
      if (!(std::abs(x) <= 0x1p53) || x != std::trunc(x) || (std::is_same_v<T, bool> && x != 0 && x != 1))
        throw model_error(message(
            "overdub: %g stands for a choice \"%s\", and is no such %s", x, s.address.c_str(),
            std::is_same_v<T, bool> ? "truth" : "integer"));
    return static_cast<T>(x);
  }
  static double number(datum const& x) {
    if (x.type().element == ir::scalar::f64) return x.as<double>();
    if (x.type().element == ir::scalar::f32) return static_cast<double>(x.as<float>());
    return static_cast<double>(static_cast<i64>(x.bits()));
  }
  void add_names(std::string address, datum::extents const& shape) {
    std::ranges::replace(address, '/', '.');
    std::vector<i64> at(shape.size(), 0);
    for (i64 const n : shape)
      if (n == 0) return;
    for (;;) {
      std::string name = address;
      for (std::size_t k = 0; k < at.size(); ++k) {
        name += k == 0 ? '[' : ',';
        name += std::to_string(at[k] + 1);
      }
      names_.push_back(at.empty() ? name : name + ']');
      std::size_t k = at.size();
      while (k > 0 && ++at[k - 1] == shape[k - 1]) at[--k] = 0;
      if (k == 0) return;
    }
  }

  std::vector<one_site> sites_;
  std::vector<std::string> names_;
};

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub::models
