// Many sources at once: the list fills as they answer.

import { parsed, tell } from "./net.js";
import { glide } from "./flip.js";

function results() {
  let root = document.getElementById("results");
  if (!root) {
    document.querySelector(".start")?.remove();
    document.querySelector("main.search").classList.remove("empty");
    root = document.createElement("div");
    root.id = "results";
    document.querySelector("main.search").append(root);
  }
  return root;
}

function ask(form) {
  const query = new URLSearchParams([...new FormData(form)].filter(([name, value]) => value && name !== "csrf"));
  const stream = new EventSource(`/find/stream?${query}`);
  tell("Searching the sources …", 30);
  stream.addEventListener("list", (event) => {
    const root = results();
    glide(root, () => root.replaceChildren(parsed(JSON.parse(event.data).html)));
  });
  stream.addEventListener("done", (event) => {
    stream.close();
    tell("", 0);
    const { address } = JSON.parse(event.data);
    if (address) location.assign(address);
    else tell("None of the sources found anything.");
  });
  stream.addEventListener("problem", (event) => {
    stream.close();
    tell(JSON.parse(event.data).detail);
  });
  stream.onerror = () => {
    stream.close();
    tell("The sources could not be searched. Is the query empty, or the server gone?");
  };
}

export function enhance() {
  const box = document.getElementById("box");
  box?.addEventListener("submit", (event) => {
    if (!event.submitter?.hasAttribute("formaction")) {
      for (const one of box.querySelectorAll('[name="source"]')) one.disabled = true;
      setTimeout(() => { for (const one of box.querySelectorAll('[name="source"]')) one.disabled = false; });
      return;
    }
    event.preventDefault();
    box.querySelector(".sources").open = false;
    ask(box);
  });
}
