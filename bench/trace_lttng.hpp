// Tracepoints of LTTng-UST for bench/trace.cpp. LTTng includes this file several times and expands its macros differently each time.
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER overdub_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "trace_lttng.hpp"

#if !defined(OVERDUB_BENCH_TRACE_LTTNG) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define OVERDUB_BENCH_TRACE_LTTNG

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(
    overdub_bench, span_begin, LTTNG_UST_TP_ARGS(char const*, name),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_string(name, name)))
LTTNG_UST_TRACEPOINT_EVENT(
    overdub_bench, span_end, LTTNG_UST_TP_ARGS(char const*, name),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_string(name, name)))

#endif

#include <lttng/tracepoint-event.h>
