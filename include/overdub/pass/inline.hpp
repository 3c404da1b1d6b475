// inline_calls: calls of small functions, and of functions that are called once, become copies of their bodies. Functions
// that may call themselves stay, and those that say how they are differentiated. In a program with an entry, functions that nothing
// calls any more are erased, but for some that rules of derivatives call. Needs a valid program. Keeps everything that can be seen.
// Not idempotent: what has grown by it may be called once now. Lowers the cost, never raises it.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/calls.hpp>
#include <overdub/pass/words.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace overdub::pass {
namespace detail {

class inlining {
public:
  inlining(program& p, std::size_t small);

  std::size_t run();

private:
  // The values of a copied function, by number: what cursor::clone asks.
  class copied_values {
  public:
    void clear(std::size_t size) { all_.assign(size, {nothing, nothing}); }
    std::pair<value_id, value_id> const* find(value_id v) const;
    std::pair<value_id, value_id> const* end() const { return nullptr; }
    void insert_or_assign(value_id v, value_id copy) { all_[index_of(v)] = {v, copy}; }

  private:
    std::vector<std::pair<value_id, value_id>> all_;
  };

  // Counts what a function calls, again or no more.
  void count(function_id f, std::ptrdiff_t sign);
  bool is_fit(function_id callee) const;
  void into(function_id f);
  // Copies the body of a function to where the cursor stands, at a call, which it replaces.
  void copy(cursor& c, function_id callee);
  void erase_unused(function_id f);

  program& p_;
  std::size_t small_;
  ir::call_components calls_;
  std::vector<std::ptrdiff_t> count_;    // of calls of each function
  std::vector<std::ptrdiff_t> closures_; // of function values of it
  std::vector<std::size_t> size_;        // in operations
  copied_values copied_;
  std::vector<value_id> results_;
  std::size_t inlined_ = 0;
};

} // namespace detail

/// Functions of at most `small` operations are inlined wherever they are called. Returns how many calls were. O(operations,
/// and those copied).
inline std::size_t inline_calls(program& p, std::size_t small = 24) {
  return detail::inlining(p, small).run();
}

} // namespace overdub::pass

#if OVERDUB_HEADER_ONLY
#include <overdub/pass/inline.ipp>
#endif
