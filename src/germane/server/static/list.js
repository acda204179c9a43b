// The result list: marking in place, undo and redo, why here, the current row.

import { beacon, fieldsOf, fragment, nowShown, tell } from "./net.js";
import { glide } from "./flip.js";

const root = () => document.getElementById("results");
const rows = () => [...document.querySelectorAll(".list > .row")].filter((row) => row.checkVisibility?.() ?? true);
const NEXT = Symbol("the first row without a mark");
let busy = false;
let moved = null; // the bar that was moved while another change was kept: it follows

/** Where a form goes; by attributes, since a field may be called "action" too. */
const target = (form, button) => button?.getAttribute("formaction") || form.getAttribute("action");

export function current() {
  return document.querySelector(".row.current");
}

/** Make a row the current one, and bring it into view. */
export function select(row) {
  current()?.classList.remove("current");
  if (!row) return;
  row.classList.add("current");
  row.querySelector(".open").focus({ preventScroll: true });
  row.scrollIntoView({ block: "nearest" });
}

export function step(by) {
  const all = rows();
  const at = all.indexOf(current());
  select(all[Math.min(Math.max(at + by, 0), all.length - 1)] || all[0]);
}

/** One change of the list at a time; what is pressed meanwhile is told to be pressed again. */
async function alone(change) {
  if (busy) {
    tell("The last change is still being kept. Press again when the list has moved.");
    return;
  }
  busy = true;
  try {
    await change();
  } finally {
    busy = false;
  }
  const bar = moved && barOf(moved.word);
  const share = moved?.share;
  moved = null;
  if (bar) {
    bar.value = share;
    bar.form.requestSubmit();
  }
}

/** Send a form of the list, and put the new list in the place of the old one. */
export const send = (form, button, keep) => alone(async () => {
  const began = performance.now();
  const answer = await fragment(target(form, button), fieldsOf(form, button));
  if (!answer) return;
  show(answer, keep);
  performance.measure("germane-mark", { start: began });
});

function show(answer, keep) {
  const place = Math.max(rows().indexOf(current()), 0);
  const sheet = location.hash;
  glide(root(), () => root().replaceChildren(answer.nodes));
  nowShown();
  groups();
  if (answer.place) history.pushState({}, "", answer.place + sheet);
  const all = rows();
  const open = keep === NEXT ? all.find((row) => !row.matches(".yes, .no")) : all.find((row) => row.dataset.id === keep);
  select(open || all[Math.min(place, all.length - 1)]);
}

/** In a list of results in place, elsewhere (the results of a topic) by a new page. */
function change(button, keep) {
  if (root()) send(button.form, button, keep);
  else button.form.requestSubmit(button);
}

/** Mark the current row; the first that is neither marked nor moved away becomes the current one. */
export function mark(kind) {
  const row = current() || rows()[0];
  const button = row?.querySelector(`.act.${kind}`);
  if (button?.form) change(button, NEXT);
}

export function press(id) {
  const button = document.getElementById(id);
  if (button?.form && !button.disabled) change(button, current()?.dataset.id);
}

/** Open or close "why here" below a row. */
export async function why(row = current() || rows()[0]) {
  const link = row?.querySelector(".act.why");
  if (!link) return;
  const open = row.querySelector(".why-slot");
  if (open) {
    open.remove();
    return;
  }
  const answer = await fragment(link.href);
  if (!answer || row.querySelector(".why-slot")) return;
  const slot = document.createElement("div");
  slot.className = "why-slot";
  slot.append(answer.nodes);
  row.append(slot);
  row.scrollIntoView({ block: "nearest" });
}

/** The groups in the rest, which take longer than the list, come after it. */
function groups() {
  const slot = document.getElementById("groups");
  if (slot?.dataset.address && slot.firstElementChild) fill(slot, slot.dataset.address);
}

async function fill(slot, address) {
  const answer = await fragment(address);
  if (answer && slot.isConnected) slot.replaceChildren(answer.nodes);
}

function weigh(bar) {
  if (busy) moved = { word: bar.form.elements.word.value, share: bar.value };
  else bar.form.requestSubmit();
}

const barOf = (word) => [...document.querySelectorAll(".weigh [type=range]")].find((bar) => bar.form.elements.word.value === word);

const visit = (address) => alone(async () => {
  const word = document.activeElement?.closest(".weigh")?.elements.word.value;
  const answer = await fragment(address);
  if (!answer) {
    location.assign(address);
    return;
  }
  show(answer, current()?.dataset.id);
  barOf(word)?.focus(); // a bar that was moved by keys stays in hand
});

export function enhance() {
  const results = root();
  if (!results) return;
  results.addEventListener("submit", (event) => {
    const form = event.target;
    if (["/mark", "/undo", "/redo"].includes(target(form, event.submitter))) {
      event.preventDefault();
      const row = form.closest(".row");
      if (row) select(row);
      send(form, event.submitter, row?.dataset.id);
    } else if (form.matches(".add, .method, .weigh")) {
      event.preventDefault();
      const query = new URLSearchParams(fieldsOf(form).filter(([, value]) => value));
      visit(`/search?${query}`);
    }
  });
  results.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    const link = event.target.closest("a");
    if (!link) return;
    const row = link.closest(".row");
    if (link.matches(".act.why")) {
      event.preventDefault();
      select(row);
      why(row);
    } else if (link.matches(".groups .ask")) {
      event.preventDefault();
      fill(link.closest(".groups"), link.href);
    } else if (link.matches(".drop, .words a, .right .chip")) {
      event.preventDefault();
      visit(link.href);
    } else if (link.matches(".open") && row) {
      logged(row);
    }
  });
  results.addEventListener("change", (event) => {
    if (event.target.matches('.weigh [type="range"]')) weigh(event.target);
  });
  for (const bar of results.querySelectorAll(".weigh [type=range]")) {
    if (bar.value !== bar.defaultValue) weigh(bar); // it was moved before this script came
  }
  groups();
  addEventListener("popstate", () => location.reload());
}

/** A click on a result, with its position, for the log on this machine. */
export function logged(row) {
  const list = document.querySelector(".columns")?.dataset;
  if (list?.query) {
    const place = { q: list.query, search: list.search, c: list.collection };
    beacon("/click", { ...place, id: row.dataset.id, position: row.dataset.rank });
  }
}
