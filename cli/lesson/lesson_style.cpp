// SPDX-License-Identifier: Apache-2.0
// The style sheet of the lesson's page, in addition to charts::page_style().
#include "cli/lesson/lesson_page.hpp"

namespace fanin::cli {

std::string_view lesson_style() {
  return R"(:root{--c6:#5a43c7;--c7:#b0122f}
@media screen and (prefers-color-scheme:dark){:root{--c6:#a89bff;--c7:#ff7a8f}}
body{max-width:76rem}h2{display:block;margin-top:1.5rem}
p{margin:.6rem 0}table{margin:.6rem 0}th{white-space:normal;vertical-align:bottom}td:first-child,dd{white-space:normal}
dt{font-weight:600}dd{margin:0 0 .5rem}code{font-size:.85em;overflow-wrap:anywhere}
#cuda td{white-space:normal}#cuda td:first-child{white-space:nowrap}
a.word{color:inherit;text-decoration:underline dotted var(--muted)}
pre{font-size:.75rem;line-height:1.4;margin:.6rem 0;padding:.5rem;background:var(--band);overflow-x:auto}
.kernel pre,.called pre{white-space:normal}
pre>*{display:block;min-height:1.4em;white-space:pre-wrap;--hang:calc((var(--indent,0) + 4)*1ch);
padding-left:var(--hang);text-indent:calc(-1*var(--hang))}
pre mark{color:inherit;background:color-mix(in srgb,var(--c0) 25%,transparent)}
pre .current{outline:2px solid var(--c1);outline-offset:-1px}
.share{min-width:5.5rem;padding-bottom:.5rem;print-color-adjust:exact;background:linear-gradient(90deg,var(--c0) var(--share),
var(--grid) 0) 0 85%/calc(100% - .75rem) 4px no-repeat}
nav{display:flex;flex-wrap:wrap;gap:.25rem .9rem;font-size:.85rem;margin:.5rem 0}nav a{margin:0}
nav a[aria-current]{font-weight:700;color:var(--ink);text-decoration:none}
.map{max-width:44rem}.map path{fill:none;stroke:var(--muted)}.map rect{fill:var(--c)}
.map a text{fill:var(--paper);text-anchor:middle;font-size:11px}.map .label{font-size:9.5px}
.steps{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(20rem,100%),1fr));gap:1rem 2rem;margin:1rem 0}
figcaption{font-size:.9rem;margin-bottom:.5rem}figcaption .line{display:block}
.step{display:block;width:100%;max-width:26rem;height:auto;font:11.5px system-ui,sans-serif}
.step text{text-anchor:middle;fill:var(--ink)}.step .long{font-size:9px}
.step .label{text-anchor:start;fill:var(--muted);font-size:11px}
.step text.rest{fill:var(--muted)}.step text.on{fill:var(--paper)}
.step rect{stroke:var(--muted);stroke-width:.6;fill:var(--paper)}
.step rect.read{fill:var(--band);fill:color-mix(in srgb,var(--c) 25%,var(--paper))}
.step line{stroke:var(--c);stroke-width:1.4}.step .own{stroke-dasharray:3 2}
.step circle,.step rect.on{fill:var(--c);fill:color-mix(in srgb,var(--c) 85%,var(--ink))}
.w0{--c:var(--c0)}.w1{--c:var(--c1)}.w2{--c:var(--c2)}.w3{--c:var(--c3)}.w4{--c:var(--c4)}.w5{--c:var(--c5)}
.w6{--c:var(--c6)}.w7{--c:var(--c7)}
.controls,.box{display:none}
@media screen{
.stepping section:not(.now){display:none}
.stepping .controls{display:flex;gap:.75rem;align-items:center;position:sticky;top:0;z-index:1;padding:.4rem 0;
background:var(--paper);border-bottom:1px solid var(--grid)}
.controls p{flex:1;margin:0;text-align:center;font-size:.9rem}.controls span{white-space:nowrap}
button{font:inherit;padding:.3rem 1rem;border:1px solid var(--muted);border-radius:.4rem;background:var(--paper);
color:var(--ink);cursor:pointer}button:disabled{opacity:.4;cursor:default}
section{scroll-margin-top:100vh}figure,dt,pre>*{scroll-margin:4.5rem 0 1rem}
.stepping h1,.stepping h2{margin-top:.3rem}
.stepping .steps{grid-template-columns:minmax(0,1fr);margin:0;align-content:start}
.stepping .steps figure{grid-area:1/1;margin:0}.stepping .steps figure:not(.now){visibility:hidden}
.stepping .step{max-width:32rem;max-height:calc(100vh - 17rem)}
.box.open{display:block;position:fixed;bottom:0;left:0;right:0;z-index:2;padding:.6rem 1rem;background:var(--band);
border-top:2px solid var(--muted)}.box p{margin:0 auto;max-width:60rem}
}
@media screen and (min-width:60rem){
.stepping body{display:grid;grid-template-columns:12.5rem minmax(0,1fr);column-gap:1.5rem;max-width:92rem;padding:0 1rem}
.stepping nav{position:sticky;top:0;height:100vh;overflow-y:auto;flex-flow:column nowrap;gap:.15rem;margin:0;padding:.5rem 0;
font-size:.8rem}
.stepping section.stage.now{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);
grid-template-rows:auto auto auto 1fr;gap:0 2.5rem}
.stepping .stage h2,.stepping .story{grid-column:1/3}
.stepping .steps{grid-column:2;grid-row:3/5;position:sticky;top:3.6rem;align-self:start;margin-top:.6rem}
.stepping .code,.stepping .rest{grid-column:1}
.stepping section:not(.stage){max-width:56rem}}
@media screen and (max-width:60rem){
.stepping section.stage.now{display:flex;flex-direction:column}
.stepping .stage>.story{order:1}.stepping .stage>.code{order:2}.stepping .stage>.rest{order:3}}
@media screen and (max-width:40rem){body{padding:.5rem 1rem}.share{min-width:0}table{font-size:.7rem}th,td{padding-right:.3rem}
pre{font-size:.65rem;padding:.5rem .25rem}#cuda table{font-size:.8rem}#cuda td:first-child{white-space:normal;min-width:9em}
button{padding:.3rem .6rem}
.stepping nav{flex-wrap:nowrap;overflow-x:auto;padding:.35rem 0;margin:0;
--edge:color-mix(in srgb,var(--muted) 50%,var(--paper));
background:linear-gradient(90deg,var(--paper) 50%,transparent) 0 0/3rem 100% local,
linear-gradient(270deg,var(--paper) 50%,transparent) 100% 0/3rem 100% local,
linear-gradient(90deg,var(--edge),transparent) 0 0/1rem 100%,
linear-gradient(270deg,var(--edge),transparent) 100% 0/1rem 100%;background-repeat:no-repeat}
.stepping nav a{white-space:nowrap}}
@media print{.steps{grid-template-columns:1fr 1fr}figcaption{font-size:.75rem}}
)";
}

}  // namespace fanin::cli
