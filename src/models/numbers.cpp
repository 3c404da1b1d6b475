#include <overdub/core/floating_point.hpp>
#include <overdub/models/numbers.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace overdub::models {

namespace {

double number_in_row(datum const& x) {
  if (x.type().element == ir::scalar::f64) return x.as<double>();
  if (x.type().element == ir::scalar::f32) return static_cast<double>(x.as<float>());
  return static_cast<double>(static_cast<i64>(x.bits()));
}

template <class T>
T choice_in_row(std::string const& address, double x) {
  if constexpr (std::is_integral_v<T>)
    if (!(std::abs(x) <= 0x1p53) || x != std::trunc(x) || (std::is_same_v<T, bool> && x != 0 && x != 1))
      throw model_error(message(
          "overdub: %g stands for a choice \"%s\", and is no such %s", x, address.c_str(),
          std::is_same_v<T, bool> ? "bool" : "integer"));
  return static_cast<T>(x);
}

void write_absent_choices(datum const& made, std::span<double> out, double absent) {
  if (made.type().rank == 0) {
    if (!made.as<bool>()) std::ranges::fill(out, absent);
    return;
  }
  auto const& each = made.elements<bool>();
  for (std::size_t k = 0; k < out.size(); ++k)
    if (!each[static_cast<i64>(k)]) out[k] = absent;
}

} // namespace

number_row::number_row(trace const& like, selection const& of) {
  like.core().check(of);
  for (address const& a : of.addresses())
    if (!a.indices.empty())
      throw model_error(message(
          "overdub: %.80s is one of several choices, and rows have all of a site: select \"%.80s\"",
          text_of(a).c_str(), a.site.c_str()));
  for (std::uint32_t s = 0; s < like.values().size(); ++s) {
    site const& each = like.core().sites()[s];
    if (of.extent(each.address) <= 0) continue;
    if (each.has_random_count || each.is_resized || each.varies_in_size ||
        (each.is_conditional && each.type.rank > 0))
      throw model_error(message(
          "overdub: the choice \"%s\" is an array in a branch, or of a map whose trip count depends on other "
          "choices: its size may differ between draws; leave it out of the choices to keep",
          each.address.c_str()));
    sites_.push_back({s, each.address, each.type_of_all(), like.values()[s].shape(), each.is_conditional});
    add_names(each.address, sites_.back().shape);
  }
}

std::vector<double> number_row::of(trace const& t) const {
  std::vector<double> all(size());
  write(t, all);
  return all;
}

choice_map number_row::choices(std::span<double const> row) const {
  choice_map all;
  std::size_t next = 0;
  for (one_site const& s : sites_)
    execute::with_type(s.type.element, [&]<class T>(T) {
      std::span<double const> const own = row.subspan(next, count(s));
      next += own.size();
      if (s.is_conditional) { // NaN stands for a choice that was not made
        std::vector<i64> at;
        for (std::size_t k = 0; k < own.size(); ++k) {
          if (overdub::is_nan(own[k])) continue;
          indices_of(s.shape, k, at);
          all.set(s.address, at, datum(choice_in_row<T>(s.address, own[k])));
        }
      } else if (s.type.rank == 0) {
        all.set(s.address, {}, datum(choice_in_row<T>(s.address, own[0])));
      } else {
        auto const n = static_cast<i64>(own.size());
        overdub::detail::array_builder<T> out(n);
        for (i64 i = 0; i < n; ++i) out.put(i, choice_in_row<T>(s.address, own[static_cast<std::size_t>(i)]));
        all.set(s.address, {}, datum::of(s.shape, out.finish(n)));
      }
    });
  return all;
}

std::size_t number_row::count(one_site const& s) { // 1 if there are no axes
  std::size_t n = 1;
  for (i64 const extent : s.shape) n *= static_cast<std::size_t>(extent);
  return n;
}

std::span<double> number_row::write_site(
    one_site const& s, datum const& x, datum const& made, std::span<double> out, double absent) {
  std::span<double> const own = out.first(count(s));
  if (s.type.rank == 0)
    own[0] = number_in_row(x);
  else
    execute::with_type(s.type.element, [&]<class T>(T) {
      std::ranges::transform(x.elements<T>(), own.begin(), [](T e) { return static_cast<double>(e); });
    });
  if (s.is_conditional) write_absent_choices(made, own, absent);
  return out.subspan(own.size());
}

void number_row::add_names(std::string address, datum::extents const& shape) {
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

} // namespace overdub::models
