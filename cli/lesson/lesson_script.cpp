// SPDX-License-Identifier: Apache-2.0
// The script of the lesson's page: one page at a time, one step at a time, and a box for the word that is asked for.
#include "cli/lesson/lesson_page.hpp"

namespace fanin::cli {

std::string_view lesson_script() {
  return R"(const pages = [...document.querySelectorAll("main > section")], links = [...document.querySelectorAll("nav a")];
const stepsOf = page => [...page.querySelectorAll(".steps > figure")];
const button = (text, key) =>
  Object.assign(document.createElement("button"), {type: "button", textContent: text, ariaKeyShortcuts: key});
const controls = document.createElement("div"), status = document.createElement("p");
const count = document.createElement("span");
const box = document.createElement("aside");
const back = button("\u2190 Back", "ArrowLeft"), next = button("Next \u2192", "ArrowRight");
let page = 0, step = 0;

const wide = matchMedia('(min-width:60rem)');  // The picture then stays on the screen while the kernel scrolls.

const show = () => {
  const steps = stepsOf(pages[page]);
  pages.forEach((one, i) => one.classList.toggle("now", i === page));
  steps.forEach((one, i) => one.classList.toggle("now", i === step));
  links.forEach((one, i) => i === page ? one.setAttribute("aria-current", "true") : one.removeAttribute("aria-current"));
  links[page].parentElement.scrollLeft = links[page].offsetLeft - links[0].offsetLeft;
  const line = steps.length ? Number(steps[step].dataset.line ?? -1) : -1;
  pages[page].querySelectorAll(".kernel pre > *").forEach((one, i) => one.classList.toggle("current", i === line));
  count.textContent = steps.length ? `step ${step + 1} of ${steps.length}` : "";
  status.replaceChildren(links[page].textContent + (steps.length ? ", " : ""), count);
  back.disabled = page === 0 && step === 0;
  next.disabled = page === pages.length - 1 && step >= steps.length - 1;
  box.classList.remove("open");
};
const goTo = (to, at) => {
  page = to;
  step = at;
  show();
  history.replaceState(null, "", "#" + pages[page].id);
  scrollTo(0, 0);
};
const move = by => {
  const wanted = step + by, last = pages.length - 1;
  if (wanted >= 0 && wanted < stepsOf(pages[page]).length) {
    step = wanted;
    show();
    const line = wide.matches && document.querySelector("section.now .current");
    (line || stepsOf(pages[page])[step]).scrollIntoView({block: "nearest"});
  } else if (by > 0 && page < last) {
    goTo(page + 1, 0);
  } else if (by < 0 && page > 0) {
    goTo(page - 1, Math.max(stepsOf(pages[page - 1]).length - 1, 0));
  }
};
const follow = () => {
  const target = document.getElementById(location.hash.slice(1));
  page = Math.max(pages.findIndex(one => one.contains(target)), 0);
  step = 0;
  show();
  if (target === pages[page] || !target) scrollTo(0, 0);
  else target.scrollIntoView();
};
const explain = event => {
  const link = event.target.closest("a.word");
  if (!link) return;
  event.preventDefault();
  const text = document.createElement("p"), name = document.createElement("strong");
  name.textContent = document.getElementById(link.hash.slice(1)).textContent + ". ";
  text.append(name, link.title);
  box.replaceChildren(text);
  box.classList.add("open");
};

controls.className = "controls";
box.className = "box";
status.setAttribute("aria-live", "polite");
box.setAttribute("aria-live", "polite");
controls.append(back, status, next);
document.querySelector("main").prepend(controls);
document.body.append(box);
document.documentElement.classList.add("stepping");
back.onclick = () => move(-1);
next.onclick = () => move(1);
box.onclick = () => box.classList.remove("open");
document.querySelector("main").addEventListener("click", explain);
addEventListener("hashchange", follow);
addEventListener("keydown", event => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (event.key === "ArrowRight") move(1);
  if (event.key === "ArrowLeft") move(-1);
  if (event.key === "Escape") box.classList.remove("open");
});
follow();
)";
}

}  // namespace fanin::cli
