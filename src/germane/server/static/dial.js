// The threshold of a topic: while the dial is turned, the curve and the sentence below it follow. Nothing is kept until
// the button is pressed.

import { fragment } from "./net.js";

export function enhance() {
  const form = document.querySelector("form.dial");
  if (!form) return;
  const dial = form.querySelector('[name="shift"]');
  const view = document.querySelector(".dial-view");
  let asked = 0, shown = 0, waiting = 0;
  form.querySelector("button.quiet")?.remove();
  async function look() {
    const mine = ++asked;
    const answer = await fragment(`${form.getAttribute("action")}?shift=${dial.value}`);
    if (!answer || mine < shown) return;
    shown = mine;
    view.replaceChildren(answer.nodes);
  }
  dial.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(look, 60);
  });
  if (dial.value !== dial.defaultValue) look(); // it was turned before this script came
}
