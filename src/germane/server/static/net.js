// What every module shares: the token against cross-site requests, fetching fragments, and telling a person something.

const csrf = () => document.querySelector('meta[name="csrf"]').content;
let telling = 0;
let changed = 0;

/** What is shown is another from now on. */
export const nowShown = () => { changed = performance.now(); };
/** Whether a key or button was pressed when what is shown now was there already. */
export const wasSeen = (event) => event.timeStamp >= changed;

/** One sentence at the foot of the page, for a while. */
export function tell(text, seconds = 6) {
  const line = document.getElementById("told");
  line.textContent = text;
  clearTimeout(telling);
  telling = setTimeout(() => { line.textContent = ""; }, seconds * 1000);
}

/** A fragment of the page; the answer's address comes with it. Errors are told, and null is returned. */
export async function fragment(address, fields) {
  const headers = { "X-Fragment": "1", Accept: "text/html, application/problem+json" };
  const options = { headers, credentials: "same-origin" };
  if (fields) {
    headers["X-CSRF-Token"] = csrf();
    options.method = "POST";
    options.body = new URLSearchParams(fields);
    options.keepalive = true; // a mark counts even if the page is left at once
  }
  try {
    const answer = await fetch(address, options);
    if (!answer.ok) {
      tell(await sentence(answer));
      return null;
    }
    return { nodes: parsed(await answer.text()), place: answer.headers.get("x-place") };
  } catch {
    tell("The server does not answer. Is it still running?");
    return null;
  }
}

async function sentence(answer) {
  const kind = answer.headers.get("content-type") || "";
  if (kind.includes("json")) return (await answer.json()).detail;
  const found = parsed(await answer.text()).querySelector(".state p");
  return found ? found.textContent : `The server answered with ${answer.status}.`;
}

/** HTML that the server rendered, as nodes. It holds no script that could run: the page allows none inline. */
export function parsed(html) {
  const whole = new DOMParser().parseFromString(html, "text/html");
  const nodes = document.createDocumentFragment();
  nodes.append(...whole.body.childNodes);
  return nodes;
}

/** Post fields and forget the answer, even while the page is left. */
export function beacon(address, fields) {
  fetch(address, {
    method: "POST", body: new URLSearchParams(fields), headers: { "X-CSRF-Token": csrf() }, keepalive: true,
  }).catch(() => {});
}

/** Fields of a form with the button that was pressed. */
export function fieldsOf(form, button) {
  const fields = new FormData(form);
  if (button && button.name) fields.set(button.name, button.value);
  return [...fields].filter(([, value]) => typeof value === "string");
}
