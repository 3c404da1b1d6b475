// The direct way: functions, values, contexts and the dispatcher. Includes only.
#pragma once

#include <overdub/array/array.hpp>
#include <overdub/array/primitives.hpp>
#include <overdub/call/compose.hpp>
#include <overdub/call/context.hpp>
#include <overdub/call/described.hpp>
#include <overdub/call/dispatch.hpp>
#include <overdub/call/extends.hpp>
#include <overdub/call/fn.hpp>
#include <overdub/call/leaf.hpp>
#include <overdub/call/operators.hpp>
#include <overdub/call/ops.hpp>
#include <overdub/call/run.hpp>
#include <overdub/call/scope.hpp>
#include <overdub/call/tangent.hpp>
#include <overdub/call/value.hpp>
#include <overdub/control/if.hpp>
#include <overdub/control/loop.hpp>
#include <overdub/control/map.hpp>
#include <overdub/control/reduce.hpp>
#include <overdub/version.hpp>
