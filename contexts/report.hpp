// Reports of draws and measurements, as one self-contained page of HTML: pictures are inline SVG, and there is no script. Such a page opens
// without a network, prints, can be mailed and archived, and satisfies a strict content security policy. Graphs are laid out by Graphviz's
// program dot, if it is installed.
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
