// Keys: off while typing, never with Ctrl, Alt or Meta, so that no shortcut of the browser is taken.

import { current, logged, mark, press, step, why } from "./list.js";
import { decide, reason } from "./screen.js";
import { fragment, wasSeen, tell } from "./net.js";

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

/** What a key does; true where the browser is not to do what it does by itself. */
export function act(key, target) {
  if (key === "?") {
    help();
    return true;
  }
  if (key === "/") {
    const box = document.getElementById("q");
    box?.select();
    return Boolean(box);
  }
  if (document.getElementById("decide")) {
    if (/^[1-9]$/.test(key)) reason(key);
    else inScreen[key]?.();
    return false;
  }
  if (!document.querySelector(".list")) return false;
  if (key === "Enter" && target.closest("a, button, summary") && !target.closest(".row.current .open")) return false;
  return inList[key]?.() === true;
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
    if (event.repeat && !"jk".includes(event.key)) return; // a key that is held down decides once
    if (!wasSeen(event) && "ynmu".includes(event.key)) {
      tell("What is shown has just changed, so this key did nothing. Press it again.");
      return;
    }
    if (act(event.key, event.target)) event.preventDefault();
  });
  document.addEventListener("click", (event) => {
    if (wasSeen(event) || !event.target.closest("#results button, #record button")) return;
    event.preventDefault();
    tell("What is shown has just changed, so this button did nothing. Press it again.");
  }, { capture: true });
  document.querySelector(".key-help")?.addEventListener("click", (event) => {
    event.preventDefault();
    help();
  });
}
