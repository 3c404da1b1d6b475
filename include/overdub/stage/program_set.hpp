// Copies of programs, one for those that are equal and call the same native functions.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>
#include <memory>

namespace overdub::detail {

class program_set {
public:
  OVERDUB_DECL program_set();
  program_set(program_set const&) = delete;
  program_set& operator=(program_set const&) = delete;
  OVERDUB_DECL ~program_set();

  /// The number of a program, from 0 on; it is added where it is new. O(program), however many there are.
  OVERDUB_DECL std::size_t number_of(ir::program const& p);
  /// The copy, at one address as long as this lives.
  OVERDUB_DECL ir::program const& operator[](std::size_t number) const;

private:
  struct tables;
  std::unique_ptr<tables> tables_;
};

} // namespace overdub::detail

#if OVERDUB_HEADER_ONLY
#include <overdub/stage/program_set.ipp>
#endif
