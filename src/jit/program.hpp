// Compiles a whole program: its module, the functions reachable from the entry, the ownership of array arguments, and entry
// points for C++.
#pragma once

#include "debug_lines.hpp"
#include "elementary.hpp"
#include "engine.hpp"
#include "stored_parts.hpp"
#include "symbols.hpp"

#include <overdub/execute/code.hpp>
#include <overdub/ir/calls.hpp>
#include <overdub/ir/program.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace overdub::jit {

using ir::function_id;
using ir::node_id;
using ir::region_id;
using ir::value_id;

/// The register type of a scalar.
llvm::Type* scalar_type(llvm::LLVMContext&, ir::scalar);
/// The types of a value's parts: one for a scalar or a function value; elements, owner and extents of an array.
void append_types(llvm::LLVMContext&, ir::type, llvm::SmallVectorImpl<llvm::Type*>&);
/// Whether a value has a reference-counted buffer.
inline bool is_reference_counted(ir::type t) { return execute::is_reference_counted(t) && !t.is_accumulator; }

/// The parameters that a function owns: the caller transfers references to them. The others are borrowed.
class ownership {
public:
  ownership(ir::program const& p, ir::call_components const& calls);
  bool owns(function_id f, std::uint32_t parameter) const { return owned_[index_of(f)][parameter]; }
  /// Whether any function of a function type owns the parameter.
  bool owns(ir::type function, std::uint32_t parameter) const { return of_type_[function.index][parameter]; }

private:
  bool look_at(ir::program const& p, function_id f);
  bool look_at_closure(ir::function const& f, node_id n);
  bool takes(ir::function const& f, ir::use_id u) const;

  std::vector<std::vector<bool>> owned_;
  std::vector<std::vector<bool>> of_type_; // by the index of the type
};

class program_compiler {
public:
  program_compiler(ir::program const& given, function_id entry, execute::code& made, options const& o);

  /// Compiles the entry and all reachable functions, with an entry point for machines, `overdub:entry`, and for functions
  /// of scalars one for C++, `overdub:target`.
  void compile();

  /// The LLVM function of a callee. The callee is compiled later, if it is not yet compiled.
  llvm::Function* function_for(function_id f);
  /// The index by which closures of this type, with `captured` captures, identify a function.
  std::uint32_t closure_number(function_id f, std::uint32_t captured, ir::type function);
  /// The function that applies function values of this type: (machine, function value, arguments) for the direct
  /// convention; else (machine, function value, words of arguments, words of results).
  llvm::Function* applier_for(ir::type function);
  /// A function that retains an owner, which may be null; always inlined.
  llvm::Function* retainer();
  /// A function that releases an array's owner, which may be null, or a function value, with its captures at the last
  /// reference.
  llvm::Function* releaser(ir::type t);
  /// A constant text, terminated by a zero byte.
  llvm::Value* text(std::string_view t);

  /// Stack memory, allocated at the insertion point.
  llvm::AllocaInst* new_words(llvm::IRBuilder<>& b, std::size_t words) const;

  std::uint32_t add_list(std::vector<execute::offset> const& words);

  ir::program const& p;
  execute::code& to;
  options const& how;
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  ir::call_components calls;
  ownership owners;
  std::optional<debug_lines> lines;         // if requested
  std::vector<program_node> hosts, samples; // the operations of to.hosts and to.samples
  bool uses_machine = false;                // some function uses it
  bool const is_repeatable;                 // a failing run can be repeated: it has no side effects
  bool looks_ahead = false;                 // some function may throw fails_ahead
  vector_width const width;                 // of vectors for which calls of vector functions are profitable
  vector_unit vectors;                      // of the processor
  elementary_functions elementary;

private:
  struct closure {
    function_id callee;
    std::uint32_t captured; // number of captured parameters
    ir::type type;
    std::uint32_t number;
  };
  llvm::Function* new_function(
      std::string const& name, llvm::ArrayRef<llvm::Type*> parameters, llvm::ArrayRef<ir::type> results);
  // function_values.cpp
  void fill_appliers();
  void fill_applier(ir::type function, llvm::Function* f);
  void fill_boxed_table();
  llvm::GlobalVariable* boxed_table();
  void call_closure(llvm::IRBuilder<>& b, closure const& c, llvm::Function* f);
  llvm::Function* make_target(function_id entry);
  void make_entry(function_id entry, llvm::Function* target);
  void return_to_frame(
      llvm::IRBuilder<>& b, llvm::ArrayRef<std::pair<ir::type, llvm::Value*>> owners, llvm::Value* machine);

  function_id const entry_;
  std::vector<llvm::Function*> made_; // for each function
  std::vector<function_id> pending_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint16_t>, std::uint32_t> closure_numbers_;
  std::vector<closure> closures_;
  llvm::GlobalVariable* boxed_ = nullptr;                                  // by the index of the function
  std::map<std::uint16_t, std::pair<ir::type, llvm::Function*>> appliers_; // by the index of the type
};

/// The return type for these results: void, a part, or a struct of parts.
llvm::Type* result_type(llvm::LLVMContext&, llvm::ArrayRef<ir::type> results);

} // namespace overdub::jit
