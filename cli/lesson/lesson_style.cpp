// SPDX-License-Identifier: Apache-2.0
// The style sheet and the script of the lesson's page, in addition to charts::page_style().
#include "cli/lesson/lesson_page.hpp"

namespace fanin::cli {

std::string_view lesson_style() {
  return R"(body{max-width:76rem}
.story,.rest{max-width:46rem}header p{font-size:.9rem}h2{margin-top:1.5rem}
p{margin:.6rem 0}dl{margin:.6rem 0;font-size:.85rem;color:var(--muted)}dd{margin:0 0 .4rem}
code{font-size:.85em;overflow-wrap:anywhere}
pre{font-size:.75rem;line-height:1.35;overflow-x:auto;margin:.6rem 0;padding:.5rem;background:var(--band)}
pre mark{color:inherit;background:color-mix(in srgb,var(--c0) 25%,transparent)}
.share{min-width:7rem;padding-bottom:.5rem;print-color-adjust:exact;background:linear-gradient(90deg,var(--c0) var(--share),
var(--grid) 0) 0 85%/calc(100% - .75rem) 4px no-repeat}
nav{display:flex;flex-wrap:wrap;gap:.25rem .9rem;font-size:.85rem;margin:.75rem 0}nav a{margin:0}
nav a[aria-current]{font-weight:700;color:var(--ink);text-decoration:none}
.steps{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(20rem,100%),1fr));gap:1rem 2rem;margin:1rem 0}
figcaption{font-size:.9rem;margin-bottom:.5rem}
.step{display:block;width:100%;max-width:26rem;height:auto;font:11.5px system-ui,sans-serif}
.step text{text-anchor:middle;fill:var(--ink)}.step .long{font-size:9px}
.step .label{text-anchor:start;fill:var(--muted);font-size:11px}
.step text.rest{fill:var(--muted)}.step text.on{fill:var(--paper)}
.step rect{stroke:var(--muted);stroke-width:.6;fill:var(--paper)}
.step rect.read{fill:var(--band);fill:color-mix(in srgb,var(--c) 25%,var(--paper))}
.step line{stroke:var(--c);stroke-width:1.4}.step .own{stroke-dasharray:3 2}
.step circle,.step rect.on{fill:var(--c);fill:color-mix(in srgb,var(--c) 85%,var(--ink))}
.w0{--c:var(--c0)}.w1{--c:var(--c1)}.w2{--c:var(--c2)}.w3{--c:var(--c3)}.w4{--c:var(--c4)}.w5{--c:var(--c5)}
.controls{display:none}
@media screen{
.stepping section:not(.now){display:none}
.stepping .controls{display:flex;gap:.75rem;align-items:center;position:sticky;top:0;z-index:1;padding:.5rem 0;
background:var(--paper);border-bottom:1px solid var(--grid)}
.controls p{flex:1;margin:0;text-align:center;font-size:.9rem}
button{font:inherit;padding:.4rem 1.1rem;border:1px solid var(--muted);border-radius:.4rem;background:var(--paper);
color:var(--ink);cursor:pointer}button:disabled{opacity:.4;cursor:default}
section,figure{scroll-margin-top:4.5rem}
.stepping .steps{grid-template-columns:minmax(0,1fr);margin:0;align-content:start}
.stepping figure{grid-area:1/1}.stepping figure:not(.now){visibility:hidden}.stepping .step{max-width:32rem}
}
@media screen and (min-width:60rem){
.stepping section.now{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);
grid-template-rows:auto auto 1fr;gap:0 3rem}
.stepping h2{grid-column:1/3}.stepping .steps{grid-column:2;grid-row:2/4;margin-top:.6rem}
.stepping .story,.stepping .rest{grid-column:1}}
@media screen and (max-width:40rem){.share{min-width:0}th[scope=col],td:last-child{white-space:normal}
.stepping nav{flex-wrap:nowrap;overflow-x:auto;padding:.35rem 0;
--edge:color-mix(in srgb,var(--muted) 50%,var(--paper));
background:linear-gradient(90deg,var(--paper) 50%,transparent) 0 0/3rem 100% local,
linear-gradient(270deg,var(--paper) 50%,transparent) 100% 0/3rem 100% local,
linear-gradient(90deg,var(--edge),transparent) 0 0/1rem 100%,
linear-gradient(270deg,var(--edge),transparent) 100% 0/1rem 100%;background-repeat:no-repeat}
.stepping nav a{white-space:nowrap}}
@media print{.steps{grid-template-columns:1fr 1fr}figcaption{font-size:.75rem}}
)";
}

std::string_view lesson_script() {
  return R"(const stages = [...document.querySelectorAll("main > section")], links = [...document.querySelectorAll("nav a")];
const stepsOf = stage => [...stage.querySelectorAll("figure")];
const button = (text, key) =>
  Object.assign(document.createElement("button"), {type: "button", textContent: text, ariaKeyShortcuts: key});
const controls = document.createElement("div"), status = document.createElement("p");
const back = button("\u2190 Back", "ArrowLeft"), next = button("Next \u2192", "ArrowRight");
let stage = 0, step = 0;

const show = () => {
  const steps = stepsOf(stages[stage]);
  stages.forEach((one, i) => one.classList.toggle("now", i === stage));
  steps.forEach((one, i) => one.classList.toggle("now", i === step));
  links.forEach((one, i) => i === stage ? one.setAttribute("aria-current", "true") : one.removeAttribute("aria-current"));
  links[stage].parentElement.scrollLeft = links[stage].offsetLeft - links[0].offsetLeft;
  const place = steps.length ? `step ${step + 1} of ${steps.length}` : "no picture";
  status.textContent = `${links[stage].textContent}, ${place}`;
  back.disabled = stage === 0 && step === 0;
  next.disabled = stage === stages.length - 1 && step >= steps.length - 1;
};
const goTo = (to, at) => {
  stage = to;
  step = at;
  show();
  history.replaceState(null, "", "#" + stages[stage].id);
  if (stages[stage].getBoundingClientRect().top < 0) stages[stage].scrollIntoView();
};
const move = by => {
  const wanted = step + by, last = stages.length - 1;
  if (wanted >= 0 && wanted < stepsOf(stages[stage]).length) {
    step = wanted;
    show();
    stepsOf(stages[stage])[step].scrollIntoView({block: "nearest"});
  } else if (by > 0 && stage < last) {
    goTo(stage + 1, 0);
  } else if (by < 0 && stage > 0) {
    goTo(stage - 1, Math.max(stepsOf(stages[stage - 1]).length - 1, 0));
  }
};
const follow = () => {
  stage = Math.max(stages.findIndex(one => "#" + one.id === location.hash), 0);
  step = 0;
  show();
};

controls.className = "controls";
status.setAttribute("aria-live", "polite");
controls.append(back, status, next);
document.querySelector("main").before(controls);
document.documentElement.classList.add("stepping");
back.onclick = () => move(-1);
next.onclick = () => move(1);
addEventListener("hashchange", follow);
addEventListener("keydown", event => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (event.key === "ArrowRight") move(1);
  if (event.key === "ArrowLeft") move(-1);
});
follow();
)";
}

}  // namespace fanin::cli
