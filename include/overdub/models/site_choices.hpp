// Reads choices by address in traces that store them by site.
#pragma once

#include <overdub/core/function_view.hpp>
#include <overdub/models/choices.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace overdub::models {

/// The operations of `model_trace` that read choices. Trace, a class derived from this one, has `core()`; `shape(site)`, the numbers of
/// choices of a site along each index; `is_made(site, indices)`, `choice(site, indices)` and `values(site)`, all choices of it; and
/// `log_densities()`.
template <class Trace>
class site_choices {
public:
  /// A choice: get<double>("theta[2]"); or all choices of a site, get<array<double>>("theta"). Throws model_error where no choice was made,
  /// and type_error. O(sites + elements).
  template <class T>
  T get(address const& at) const {
    return detail::choice_as<T>(at, existing(at));
  }
  /// The choice at an address, or all choices below it, or nothing. Throws model_error for a site that the model does not have.
  datum find(address const& at) const;
  bool contains(address const& at) const { return static_cast<bool>(find(at)); }
  /// The same. Throws model_error where there is nothing.
  datum existing(address const& at) const;
  /// A choice by all its indices, or nothing.
  datum find_one(address const& at) const;
  /// All choices; or those that are selected. O(choices).
  choice_map choices(selection const& of = selection::all()) const;
  /// Calls f for each choice. O(choices).
  void for_each_choice(overdub::detail::function_view<void(address const&, datum const&)> const& f) const;
  /// The number of choices that were made. O(choices of conditional sites).
  std::size_t size() const;
  /// The sum of the log densities of the selected choices. Runs the model.
  double project(selection const& of) const;

private:
  Trace const& self() const { return static_cast<Trace const&>(*this); }
  datum find_one(std::uint32_t s, std::span<i64 const> at) const;
  template <class F>
  void for_each_made(std::uint32_t s, F const& f) const;
};

} // namespace overdub::models
