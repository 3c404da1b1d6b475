#include <overdub/implementation/ir/hash.hpp>
#include <overdub/stage/program_set.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <tsl/robin_map.h>
#include <vector>

namespace overdub::detail {

struct program_set::tables {
  std::deque<ir::program> all;
  tsl::robin_map<std::size_t, std::vector<std::size_t>> of_hash; // the numbers of the programs with a hash

  // Includes the native functions, which the equality of programs ignores.
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
};

program_set::program_set() : tables_(std::make_unique<tables>()) {}
program_set::~program_set() = default;

std::size_t program_set::number_of(ir::program const& p) {
  std::vector<std::size_t>& alike = tables_->of_hash[tables::hash_of(p)];
  for (std::size_t const number : alike)
    if (tables_->all[number] == p && tables::has_same_hosts(tables_->all[number], p)) return number;
  tables_->all.push_back(p);
  return alike.emplace_back(tables_->all.size() - 1);
}
ir::program const& program_set::operator[](std::size_t number) const { return tables_->all[number]; }

} // namespace overdub::detail
