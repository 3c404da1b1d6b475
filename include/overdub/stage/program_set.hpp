// A set of copies of programs. Programs that are equal and call the same native functions have one copy.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>
#include <memory>

namespace overdub::detail {

class program_set {
public:
  program_set();
  program_set(program_set const&) = delete;
  program_set& operator=(program_set const&) = delete;
  ~program_set();

  /// The number of a program, from 0 on. Adds the program if it is new. O(program), independently of the number of programs.
  std::size_t number_of(ir::program const& p);
  /// The copy of this number. Its address is valid during the lifetime of the set.
  ir::program const& operator[](std::size_t number) const;

private:
  struct tables;
  std::unique_ptr<tables> tables_;
};

} // namespace overdub::detail
