// Copies of programs, one for those that are equal and call the same native functions.
#pragma once

#include <overdub/ir/hash.hpp>
#include <overdub/ir/program.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <tsl/robin_map.h>
#include <vector>

namespace overdub::detail {

class program_set {
public:
  /// The number of a program, from 0 on; it is added where it is new. O(program), however many there are.
  std::size_t number_of(ir::program const& p) {
    std::vector<std::size_t>& alike = of_hash_[hash_of(p)];
    for (std::size_t const number : alike)
      if (all_[number] == p && has_same_hosts(all_[number], p)) return number;
    all_.push_back(p);
    return alike.emplace_back(all_.size() - 1);
  }
  /// The copy, at one address as long as this lives.
  ir::program const& operator[](std::size_t number) const { return all_[number]; }

private:
  // Native functions are no part of a program's equality.
  static std::size_t hash_of(ir::program const& p) {
    std::size_t hash = ir::hash_of(p);
    auto const add = [&](std::size_t x) {
      hash = (hash ^ x ^ (hash >> 29)) * std::size_t{0x9e3779b97f4a7c15};
    };
    for (ir::host_binding const& h : p.hosts) {
      add(reinterpret_cast<std::uintptr_t>(h.run));
      add(reinterpret_cast<std::uintptr_t>(h.object));
      add(h.context);
    }
    return hash;
  }
  static bool has_same_hosts(ir::program const& a, ir::program const& b) {
    return std::ranges::equal(a.hosts, b.hosts, [&](ir::host_binding const& x, ir::host_binding const& y) {
      return a.text(x.name) == b.text(y.name) && x.run == y.run && x.object == y.object &&
             x.context == y.context;
    });
  }

  std::deque<ir::program> all_;
  tsl::robin_map<std::size_t, std::vector<std::size_t>> of_hash_; // the numbers of those of a hash
};

} // namespace overdub::detail
