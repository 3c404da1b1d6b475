// What rules read of the fields of contexts, as arguments of a program: for programs that are run on data, and made other programs of.
#pragma once

#include <overdub/execute/datum.hpp>
#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::detail {

// How the names of the native functions begin that read fields (context_field.hpp).
inline constexpr std::string_view context_field_prefix = "context_field of ";

// A field of one of the contexts that a program was made for.
struct field_argument {
  std::uint32_t context = 0; // its number
  i64 offset = 0;            // where in the context it is
  ir::type type;
  void (*read)(void*, void const* const*, void* const*) = nullptr;

  bool operator==(field_argument const&) const = default;
};

/// The entry of a program takes behind its arguments the fields that rules read, in it and in functions that it calls, and reads none.
/// Throws staging_error where a function that reads some says how it is differentiated, or is a value. O(operations).
OVERDUB_DECL std::vector<field_argument> fields_as_arguments(ir::program& p);

/// What a field is now.
OVERDUB_DECL datum value_of(field_argument const& field, void* context);

// The contexts of a program, which somebody else owns, or that it owns together with its copies, and the fields that are arguments.
class followed_contexts {
public:
  followed_contexts() = default;
  followed_contexts(
      std::shared_ptr<std::vector<field_argument> const> fields, std::vector<void*> contexts,
      std::shared_ptr<void const> owner)
      : fields_(std::move(fields)),
        contexts_(std::make_shared<std::vector<void*> const>(std::move(contexts))), owner_(std::move(owner)) {
  }

  /// What calls bring, outermost first; nothing, where nobody asks for them.
  std::shared_ptr<std::vector<void*> const> const& objects() const { return contexts_; }

  std::size_t size() const { return fields_ == nullptr ? 0 : fields_->size(); }
  /// What field number k is now.
  datum now(std::size_t k) const {
    field_argument const& f = (*fields_)[k];
    return value_of(f, (*contexts_)[f.context]);
  }
  /// These arguments, and behind them what the fields are now.
  std::vector<datum> behind(std::vector<datum> arguments) const {
    for (std::size_t k = 0; k < size(); ++k) arguments.push_back(now(k));
    return arguments;
  }

private:
  std::shared_ptr<std::vector<field_argument> const> fields_; // nothing: none
  std::shared_ptr<std::vector<void*> const> contexts_;
  std::shared_ptr<void const> owner_;
};

} // namespace overdub::detail

#if OVERDUB_HEADER_ONLY
#include <overdub/compile/fields_as_arguments.ipp>
#endif
