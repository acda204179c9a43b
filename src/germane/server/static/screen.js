// Screening: decide by key or button, without a new page.

import { fieldsOf, fragment, nowShown, tell } from "./net.js";

let busy = false;

export function decide(key) {
  const form = document.getElementById("decide");
  const button = form?.querySelector(`[data-key="${key}"]`);
  if (button && !button.disabled) send(form, button);
}

export function reason(number) {
  const radio = document.querySelector(`#decide [data-number="${number}"]`);
  if (radio) radio.checked = true;
}

async function send(form, button) {
  if (busy) {
    // What comes next is not on the screen yet, so no key decides on it; but none is lost without a word.
    tell("The last decision is still being kept. Press again when the next record is shown.");
    return;
  }
  busy = true;
  const answer = await fragment(form.getAttribute("action"), fieldsOf(form, button));
  busy = false;
  if (!answer) return;
  document.getElementById("record").replaceChildren(answer.nodes);
  nowShown();
  scrollTo({ top: 0 });
}

export function enhance() {
  const record = document.getElementById("record");
  record?.addEventListener("submit", (event) => {
    if (event.target.id !== "decide") return; // conflicts are settled by a new page
    event.preventDefault();
    send(event.target, event.submitter);
  });
}
