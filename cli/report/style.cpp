// SPDX-License-Identifier: Apache-2.0
// The style sheets of charts and pages. Colour-blind readers can tell the colours apart. They are the colours of
// Okabe and Ito, changed so that each has a contrast of at least 3 to 1 with the background of its theme.
#include "cli/report/page.hpp"
#include "cli/report/svg.hpp"

namespace fanin::cli::charts {

std::string_view chart_style() {
  return R"(:root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--muted:#59636e;--grid:#dfe3e8;--band:#e3ecf5;
--c0:#0072b2;--c1:#d55e00;--c2:#008f68;--c3:#b4568a;--c4:#b07a00;--c5:#6b4c00}
@media screen and (prefers-color-scheme:dark){:root{--paper:#14181d;--ink:#e8ebee;--muted:#a3adb8;--grid:#2e353d;
--band:#24303d;--c0:#4da3e0;--c1:#f0793a;--c2:#2bc496;--c3:#e39ac4;--c4:#e69f00;--c5:#f0e442}}
.chart{font:13px system-ui,sans-serif}
.chart text{fill:var(--ink)}.chart .label{paint-order:stroke;stroke:var(--paper);stroke-width:3px}
.chart .muted{fill:var(--muted)}.chart .strong{font-weight:600}
.chart .c0{--c:var(--c0)}.chart .c1{--c:var(--c1)}.chart .c2{--c:var(--c2)}.chart .c3{--c:var(--c3)}
.chart .c4{--c:var(--c4)}.chart .c5{--c:var(--c5)}.chart .plain{--c:var(--ink)}
.chart polyline{fill:none;stroke:var(--c);stroke-width:1.8;stroke-linejoin:round}
.chart .dashed{stroke-dasharray:7 4;stroke-width:1.4}.chart .dotted{stroke-dasharray:2 3;stroke-width:1.4}
.chart path{fill:var(--c);stroke:var(--c);stroke-width:1.5}.chart .hollow{fill:var(--paper)}
.chart .bar{fill:var(--c)}.chart .band{fill:var(--band)}
.chart line{stroke-width:1}.chart .grid{stroke:var(--grid)}.chart .axis{stroke:var(--muted)}
.chart .reference{stroke:var(--ink);stroke-width:1.8;stroke-dasharray:6 4}
)";
}

std::string_view page_style() {
  return R"(:root{--good:#0a6e4f;--bad:#b3261e}
@media screen and (prefers-color-scheme:dark){:root{--good:#2bc496;--bad:#ff9d90}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem;max-width:54rem;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
p{margin:0}figure{margin:.5rem 0 0}.muted{color:var(--muted);font-size:.9rem}
h1{font-size:1.6rem;line-height:1.25;margin:0}h2{font-size:1.25rem;margin:0}h3{font-size:1rem;margin:0;font-weight:400}
h2,h3,.kind>summary p{display:inline}details[open]>summary>h3{font-weight:600}
a{color:var(--c0)}nav{margin:1rem 0}nav a{margin-right:1rem;white-space:nowrap}
.lead{font-size:1.15rem;font-weight:600;margin:1.25rem 0 .5rem}
.numbers{list-style:none;margin:0;padding:0;border-top:1px solid var(--grid)}
.numbers li{display:grid;grid-template-columns:9.5rem 1fr 14rem;column-gap:1rem;padding:.5rem 0;
border-bottom:1px solid var(--grid)}
.numbers strong{grid-row:1/3;align-self:center;font-size:1.5rem;line-height:1.2;font-variant-numeric:tabular-nums}
.numbers .muted{grid-column:2}
.numbers em{grid-column:3;grid-row:1/3;align-self:center;font-style:normal;font-weight:600;color:var(--good)}
.numbers .bad em{color:var(--bad)}.numbers .doubtful em{color:var(--muted)}
summary{cursor:pointer;padding:.4rem 0}summary::marker{color:var(--muted)}
.kind{border-top:2px solid var(--grid);padding:.25rem 0 1rem}.kind>summary h2{margin-right:.75rem}
.one{border-top:1px solid var(--grid)}.table>summary{color:var(--muted);font-size:.9rem}
.chart{display:block;width:100%;height:auto}.narrow{display:none;max-width:30rem}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums;overflow-wrap:normal}
th,td{padding:.2rem .75rem .2rem 0;text-align:left;white-space:nowrap;border-bottom:1px solid var(--grid)}
.number{text-align:right}
@media screen and (max-width:40rem){.wide{display:none}.narrow{display:block}
.kind>summary p{display:block}
.numbers li{grid-template-columns:6rem 1fr}.numbers strong{grid-row:1/4;align-self:start;font-size:1.2rem}
.numbers em{grid-column:2;grid-row:3}}
@media print{nav,.table>summary{display:none}summary{list-style:none}a{color:inherit;text-decoration:none}
details::details-content{content-visibility:visible;display:block;break-before:avoid}.scroll{overflow:visible}
summary{break-after:avoid}figure,summary,li,tr{break-inside:avoid}}
)";
}

}  // namespace fanin::cli::charts
