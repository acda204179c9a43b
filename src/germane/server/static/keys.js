// Keys: off while typing, never with Ctrl, Alt or Meta, so that no shortcut of the browser is taken.

import { current, logged, mark, press, step, why } from "./list.js";
import { decide, reason } from "./screen.js";
import { fragment } from "./net.js";

const typing = (element) => element.closest("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");

const inList = {
  j: () => step(1),
  k: () => step(-1),
  y: () => mark("yes"),
  n: () => mark("no"),
  u: () => press("undo"),
  U: () => press("redo"),
  w: () => why(),
  e: () => document.getElementById("export")?.click(),
  Enter: () => {
    const row = current();
    if (!row) return false;
    logged(row);
    location.assign(row.querySelector(".open").href);
    return true;
  },
};

const inScreen = { y: () => decide("y"), n: () => decide("n"), m: () => decide("m"), u: () => decide("u") };

async function help() {
  const open = document.querySelector(".keys-sheet");
  if (open) {
    open.close();
    return;
  }
  const answer = await fragment("/keys");
  if (!answer) return;
  const sheet = document.createElement("dialog");
  sheet.className = "keys-sheet";
  sheet.setAttribute("aria-label", "Keys");
  const main = answer.nodes.querySelector("main");
  sheet.append(...main.childNodes);
  sheet.addEventListener("close", () => sheet.remove());
  document.body.append(sheet);
  sheet.showModal();
}

export function enhance() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented || event.isComposing) return;
    if (event.key === "Escape" && typing(event.target)) {
      event.target.blur();
      return;
    }
    if (typing(event.target)) return;
    if (document.querySelector(".keys-sheet") && event.key !== "?") return;
    if (event.key === "?") {
      event.preventDefault();
      help();
    } else if (event.key === "/") {
      const box = document.getElementById("q");
      if (!box) return;
      event.preventDefault();
      box.focus();
      box.select();
    } else if (document.getElementById("decide")) {
      if (/^[1-9]$/.test(event.key)) reason(event.key);
      else inScreen[event.key]?.();
    } else if (document.querySelector(".list")) {
      if (event.key === "Enter" && event.target.closest("a, button, summary") && !event.target.closest(".row.current .open")) return;
      const act = inList[event.key];
      if (act && act() !== false && event.key === "Enter") event.preventDefault();
    }
  });
  document.querySelector(".key-help")?.addEventListener("click", (event) => {
    event.preventDefault();
    help();
  });
}
