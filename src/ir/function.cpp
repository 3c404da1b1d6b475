#include <overdub/implementation/ir/literal_table.hpp>
#include <overdub/ir/function.hpp>

namespace overdub::ir {

function::function(symbol named, std::span<type const> parameters) : name(named) {
  (void)new_region(nothing, parameters);
}
function::function(function const& other) = default;
function::function(function&& other) noexcept = default;
function& function::operator=(function const& other) = default;
function& function::operator=(function&& other) noexcept = default;
function::~function() = default;

void function::reserve(function const& like) {
  nodes_.reserve(like.nodes_.size());
  regions_.reserve(like.regions_.size());
  values_.reserve(like.values_.size());
  uses_.reserve(like.uses_.size());
}

std::uint32_t function::new_values(std::span<type const> types, origin from, std::uint32_t maker) {
  std::uint32_t const first = value_count();
  for (std::uint32_t i = 0; i < types.size(); ++i)
    values_.push_back({.type = types[i], .from = from, .maker = maker, .index = i});
  return first;
}
region_id function::new_region(node_id parent, std::span<type const> arguments) {
  region_id const r{region_count()};
  std::uint32_t const first = new_values(arguments, origin::argument, index_of(r));
  regions_.push_back(
      {.parent = parent,
       .first_argument = first,
       .argument_count = static_cast<std::uint32_t>(arguments.size())});
  return r;
}

} // namespace overdub::ir
