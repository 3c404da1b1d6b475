// Reports of draws and measurements, as one self-contained page of HTML: pictures are inline SVG, and there is no script. Such a page opens
// without a network, prints, can be mailed and archived, and satisfies a strict content security policy. Graphs are laid out by Graphviz's
// program dot, if it is installed.
#pragma once

#include <overdub/report/bars.hpp>
#include <overdub/report/diagnostics.hpp>
#include <overdub/report/document.hpp>
#include <overdub/report/graph.hpp>
#include <overdub/report/intervals.hpp>
#include <overdub/report/listing.hpp>
#include <overdub/report/plot.hpp>
#include <overdub/report/posterior.hpp>
#include <overdub/report/table.hpp>
#include <overdub/report/text.hpp>
#include <overdub/report/trace.hpp>
