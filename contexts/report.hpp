// Reports: what draws and measurements show, as one page of HTML. It has everything in it: pictures are inline SVG of the writer's own,
// and there is no script, since a page is then read without a network, printed, mailed, kept for years, and shown under the strictest
// rules; a library of plots in JavaScript would be larger than the writer and do nothing else here. Graphs are laid out by Graphviz's
// program dot, where it is there.
#pragma once

#include <overdub/contexts/report/bars.hpp>
#include <overdub/contexts/report/diagnostics.hpp>
#include <overdub/contexts/report/document.hpp>
#include <overdub/contexts/report/graph.hpp>
#include <overdub/contexts/report/intervals.hpp>
#include <overdub/contexts/report/listing.hpp>
#include <overdub/contexts/report/plot.hpp>
#include <overdub/contexts/report/posterior.hpp>
#include <overdub/contexts/report/table.hpp>
#include <overdub/contexts/report/trace.hpp>
