// The style sheet of a page, light or dark as the reader's system asks (prefers-color-scheme). The colours c0 to c2 are blue, vermilion and
// green of M. Okabe and K. Ito, "Color universal design" (2008), and c3 to c5 are close to theirs; dark pages have lighter ones.
#pragma once

#include <overdub/core/requirements.hpp>

#include <string_view>

namespace overdub::report::writing {

inline constexpr std::string_view style = R"css(
:root { color-scheme: light dark; --page: #f6f7f9; --card: #ffffff; --ink: #1c2430; --soft: #5b6675; --rule: #dfe3e9;
  --grid: #edf0f3; --node: #f1f4f7; --well: #e8f5f0; --warned: #fff1e3;
  --c0: #0072b2; --c1: #d55e00; --c2: #009e73; --c3: #b5548b; --c4: #c98a00; --c5: #3fa3dc; }
@media (prefers-color-scheme: dark) { :root { --page: #12161c; --card: #1a2028; --ink: #e7ebf0; --soft: #9aa6b5; --rule: #323b47;
  --grid: #252d37; --node: #242c36; --well: #16302a; --warned: #3a2a18;
  --c0: #4aa8e0; --c1: #f0883e; --c2: #2cc295; --c3: #dd8fbd; --c4: #e8b73a; --c5: #8fd0f5; } }
@media print { :root { color-scheme: light; --page: #ffffff; } figure, .verdict { break-inside: avoid; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.55 system-ui, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
header, main { max-width: 988px; margin: 0 auto; padding: 0 20px; }
header { padding-top: 44px; }
h1 { font-size: 34px; line-height: 1.2; letter-spacing: -0.015em; margin: 0 0 10px; overflow-wrap: anywhere; }
h2 { font-size: 23px; line-height: 1.25; letter-spacing: -0.01em; margin: 52px 0 14px; overflow-wrap: anywhere; }
.lead { font-size: 18px; color: var(--soft); margin: 0 0 16px; max-width: 46em; }
nav a { display: inline-block; color: var(--c0); text-decoration: none; border: 1px solid var(--rule); border-radius: 99px;
  background: var(--card); padding: 3px 14px; margin: 0 6px 8px 0; font-size: 14px; }
nav a:hover, nav a:focus { border-color: var(--c0); }
main { padding-bottom: 64px; }
.blocks { display: grid; grid-template-columns: repeat(12, minmax(0, 1fr)); gap: 14px; align-items: stretch; }
.blocks > * { grid-column: span 12; margin: 0; min-width: 0; }
.blocks > .half { grid-column: span 6; }
.blocks > .quarter { grid-column: span 3; }
@media (max-width: 760px) { .blocks > .half { grid-column: span 12; } .blocks > .quarter { grid-column: span 6; } }
.blocks > p { max-width: 46em; overflow-wrap: anywhere; }
figure { background: var(--card); border: 1px solid var(--rule); border-radius: 12px; padding: 14px 18px 14px; font-size: 13.5px; }
figure.quarter { padding: 10px 10px 8px; }
figcaption { font-weight: 600; font-size: 15px; overflow-wrap: anywhere; }
figure.quarter figcaption { font-size: 13.5px; }
figure p { margin: 1px 0 0; color: var(--soft); overflow-wrap: anywhere; }
figure p.note { margin-top: 6px; }
.keys { display: flex; flex-wrap: wrap; gap: 2px 16px; }
.key i { display: inline-block; width: 16px; height: 10px; margin-right: 6px; vertical-align: baseline; background: var(--c); border-radius: 2px; }
.key.of-line i { height: 3px; vertical-align: 4px; }
.key.of-dots i { width: 8px; height: 8px; border-radius: 50%; }
.key.of-ring i { width: 11px; height: 11px; border-radius: 50%; background: none; border: 2px solid var(--c); vertical-align: -1px; }
.key.of-band i { opacity: 0.3; }
.picture { overflow-x: auto; margin-top: 8px; }
svg { display: block; max-width: 100%; height: auto; font: 11.5px system-ui, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
.whole svg { min-width: 560px; }
figure.graph svg { min-width: 0; margin: 0 auto; }
svg text { fill: var(--ink); }
svg .tick, svg .name { fill: var(--soft); }
svg .middle { text-anchor: middle; }
svg .end { text-anchor: end; }
svg .row-name { font-size: 13px; font-weight: 600; }
svg .value { font-size: 12.5px; font-variant-numeric: tabular-nums; white-space: pre; }
.grid { stroke: var(--grid); }
.axis { stroke: var(--rule); stroke-width: 1.5; }
.c0 { --c: var(--c0); } .c1 { --c: var(--c1); } .c2 { --c: var(--c2); } .c3 { --c: var(--c3); } .c4 { --c: var(--c4); } .c5 { --c: var(--c5); }
.line { fill: none; stroke: var(--c); stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
.fine { stroke-width: 1; stroke-opacity: 0.65; }
.band { fill: var(--c); fill-opacity: 0.2; }
.bars { fill: var(--c); }
.tails { fill: var(--c); fill-opacity: 0.35; }
.dots { fill: none; stroke: var(--c); stroke-width: 5; stroke-linecap: round; stroke-opacity: 0.6; }
.dots.few { stroke-opacity: 0.95; }
.quarter .dots { stroke-width: 4.4; }
.span { stroke: var(--c); stroke-width: 3; stroke-linecap: round; stroke-opacity: 0.55; }
.middle-dot { fill: none; stroke: var(--c); stroke-width: 9; stroke-linecap: round; }
.ring { fill: none; stroke: var(--c); stroke-width: 2; }
.quantile { stroke: var(--ink); stroke-dasharray: 3 3; stroke-opacity: 0.6; }
.median { stroke: var(--ink); stroke-width: 1.8; }
.node { fill: var(--node); stroke: var(--rule); }
.node.reached { fill: var(--c1); stroke: var(--c1); fill-opacity: 0.18; stroke-width: 1.8; }
.label { font: 12px ui-monospace, "Cascadia Mono", Menlo, "Liberation Mono", "DejaVu Sans Mono", monospace; }
.label.reached { font-weight: 600; }
.edge { fill: none; stroke: var(--soft); stroke-opacity: 0.6; }
.head { fill: var(--soft); fill-opacity: 0.75; }
.edge.reached { stroke: var(--c1); stroke-width: 2; stroke-opacity: 1; }
.head.reached { fill: var(--c1); fill-opacity: 1; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 5px 10px 5px 0; border-bottom: 1px solid var(--grid); vertical-align: top; }
th { color: var(--soft); font-weight: 500; border-bottom-color: var(--rule); white-space: nowrap; }
tbody tr:last-child td { border-bottom: 0; }
.number { text-align: right; padding: 5px 0 5px 14px; white-space: nowrap; }
.verdict { border-radius: 12px; padding: 10px 18px; font-size: 14.5px; }
.verdict p { margin: 2px 0; }
.well { background: var(--well); border-left: 4px solid var(--c2); }
.warned { background: var(--warned); border-left: 4px solid var(--c1); }
pre { margin: 8px 0 0; font: 12.5px/1.5 ui-monospace, "Cascadia Mono", Menlo, "Liberation Mono", "DejaVu Sans Mono", monospace;
  white-space: pre-wrap; overflow-wrap: anywhere; }
.nodes { margin: 6px 0 0; padding-left: 18px; columns: 3 220px; overflow-wrap: anywhere; }
)css";

} // namespace overdub::report::writing
