#pragma once

#include <overdub/ir/function.hpp>

namespace overdub::ir {

OVERDUB_DECL function::function(symbol named, std::span<type const> parameters) : name(named) {
  (void)new_region(nothing, parameters);
}
OVERDUB_DECL function::function(function const& other) = default;
OVERDUB_DECL function::function(function&& other) noexcept = default;
OVERDUB_DECL function& function::operator=(function const& other) = default;
OVERDUB_DECL function& function::operator=(function&& other) = default;
OVERDUB_DECL function::~function() = default;

} // namespace overdub::ir
