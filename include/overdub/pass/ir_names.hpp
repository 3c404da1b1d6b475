// Using-declarations of the IR's names, for passes.
#pragma once

#include <overdub/ir/cursor.hpp>
#include <overdub/ir/effects.hpp>

namespace overdub::pass {

using ir::attributes;
using ir::cursor;
using ir::effect_set;
using ir::effects;
using ir::function;
using ir::function_id;
using ir::id_range;
using ir::index_of;
using ir::node_id;
using ir::nothing;
using ir::op;
using ir::place_id;
using ir::program;
using ir::region_id;
using ir::symbol;
using ir::type;
using ir::use_id;
using ir::value_id;

} // namespace overdub::pass
