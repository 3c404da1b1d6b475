#include <overdub/implementation/pass/congruence.hpp>
#include <overdub/implementation/pass/each_function.hpp>
#include <overdub/pass/cse.hpp>
#include <overdub/pass/ir_names.hpp>

#include <cstddef>
#include <vector>

namespace overdub::pass {
namespace detail {

class merging {
public:
  merging(program& p, function_id f, effects const& known)
      : program_(p), cursor_(p, f, function::body), effects_(known.of_each(p[f])), same_(p[f], effects_),
        latest_(p[f].node_count(), nothing) {}

  std::size_t run() {
    look_at(function::body);
    for (node_id const n : merged_) cursor_.erase(n);
    return merged_.size();
  }
  /// Whether an operation that may fail was merged with one of an enclosing region: operations with regions may have become
  /// congruent.
  bool again() const { return again_; }

private:
  void look_at(region_id r) {
    function const& f = *cursor_;
    std::size_t const outside = path_.size();
    for (node_id n = f[r].first; n != nothing; n = f[n].next) {
      node_id const representative = same_.of(n);
      node_id const known = latest_[index_of(representative)];
      if (same_.merges(n) && known != nothing) {
        merge(n, known);
        continue;
      }
      for (region_id const inner : f.regions_of(n)) look_at(inner);
      if (!same_.merges(n)) continue;
      latest_[index_of(representative)] = n; // available after the operation only
      path_.push_back(representative);
    }
    for (; path_.size() > outside; path_.pop_back()) latest_[index_of(path_.back())] = nothing;
  }
  void merge(node_id n, node_id into) {
    function const& f = *cursor_;
    for (std::uint32_t i = 0; i < f[n].result_count; ++i) {
      value_id const earlier = f.result(into, i);
      if (f[earlier].name == nothing) cursor_.set_name(earlier, f[f.result(n, i)].name);
      cursor_.substitute(f.result(n, i), earlier);
    }
    if (f[n].place != f[into].place) cursor_.set_place_of(into, program_.join(f[n].place, f[into].place));
    again_ = again_ || (f[n].parent != f[into].parent && !effects_[index_of(n)].is_pure());
    merged_.push_back(n);
  }

  program& program_;
  cursor cursor_;
  std::vector<effect_set> effects_;
  congruence same_;
  std::vector<node_id> latest_; // of a representative: the dominating operation of its class
  std::vector<node_id> path_;
  std::vector<node_id> merged_;
  bool again_ = false;
};

} // namespace detail

std::size_t cse(program& p) {
  effects const known(p);
  return detail::run_until_stable<detail::merging>(p, known);
}

} // namespace overdub::pass
