// Converts the fields that rules read to arguments of a program, for programs that are run on data, and from which others are derived.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/execute/datum.hpp>
#include <overdub/ir/program.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::detail {

// The prefix of the names of native functions that read fields (context_field.hpp).
inline constexpr std::string_view context_field_prefix = "context_field of ";

// A field of one of the contexts of a program.
struct field_argument {
  std::uint32_t context = 0; // the index of the context
  i64 offset = 0;            // its offset in the context, in bytes
  ir::type type;
  void (*read)(void*, void const* const*, void* const*) = nullptr;

  bool operator==(field_argument const&) const = default;
};

/// Appends the fields that rules read, in the entry and in its callees, to the parameters of the entry, and replaces the reads. Throws
/// staging_error if a function that reads a field has a derivative rule, or is used as a value. O(operations).
std::vector<field_argument> fields_as_arguments(ir::program& p);

/// The current value of a field.
datum value_of(field_argument const& field, void* context);

// The contexts of a program, which it refers to or shares with its copies, and the fields that are arguments.
class session_contexts {
public:
  session_contexts() = default;
  session_contexts(
      std::shared_ptr<std::vector<field_argument> const> fields, std::vector<void*> contexts,
      std::shared_ptr<void const> owner)
      : fields_(std::move(fields)),
        contexts_(std::make_shared<std::vector<void*> const>(std::move(contexts))), owner_(std::move(owner)) {
  }

  /// The context objects for calls, outermost first; null if the program needs none.
  std::shared_ptr<std::vector<void*> const> const& objects() const { return contexts_; }

  std::size_t size() const { return fields_ == nullptr ? 0 : fields_->size(); }
  /// The current value of the k-th field.
  datum now(std::size_t k) const {
    field_argument const& f = (*fields_)[k];
    return value_of(f, (*contexts_)[f.context]);
  }
  /// Appends the current values of the fields to the arguments.
  std::vector<datum> with_fields(std::vector<datum> arguments) const {
    for (std::size_t k = 0; k < size(); ++k) arguments.push_back(now(k));
    return arguments;
  }

private:
  std::shared_ptr<std::vector<field_argument> const> fields_; // null: no fields
  std::shared_ptr<std::vector<void*> const> contexts_;
  std::shared_ptr<void const> owner_;
};

} // namespace overdub::detail
