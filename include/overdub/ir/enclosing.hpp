// The regions that enclose an operation, as a range, and the indices of their iterations.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/function.hpp>

#include <cstddef>
#include <iterator>
#include <vector>

namespace overdub::ir {

/// A region, and the operation that has it.
struct enclosing_region {
  region_id region;
  node_id owner;
};

/// A region and the regions that enclose it, innermost first, without the body of the function. Refers to the function. A step is O(1).
class enclosing_regions {
public:
  enclosing_regions(function const& f, region_id inside) : f_(&f), first_(inside) {}
  enclosing_regions(function const& f, node_id n) : enclosing_regions(f, f[n].parent) {}

  class iterator {
  public:
    using value_type = enclosing_region;
    using difference_type = std::ptrdiff_t;
    iterator() = default;
    iterator(function const& f, region_id at) : f_(&f), at_(at) {}
    enclosing_region operator*() const { return {at_, (*f_)[at_].parent}; }
    iterator& operator++() {
      at_ = (*f_)[(*f_)[at_].parent].parent;
      return *this;
    }
    iterator operator++(int) {
      iterator const before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(iterator const& a, iterator const& b) { return a.at_ == b.at_; }
    friend bool operator==(iterator const& a, std::default_sentinel_t) {
      return (*a.f_)[a.at_].parent == nothing;
    }

  private:
    function const* f_ = nullptr;
    region_id at_{};
  };

  iterator begin() const { return {*f_, first_}; }
  std::default_sentinel_t end() const { return {}; }

private:
  function const* f_;
  region_id first_;
};

/// The indices of the maps and counted loops that enclose a region, outermost first. O(depth of the region).
std::vector<value_id> enclosing_indices(function const& f, region_id inside);

} // namespace overdub::ir
