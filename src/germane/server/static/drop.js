// A file dropped anywhere goes to the import view, which shows what it holds before anything is stored; where runs are
// measured, up to three files go there.

import { tell } from "./net.js";

const hasFile = (event) => [...(event.dataTransfer?.types || [])].includes("Files");

/** Send files where they are previewed or measured. */
export function hand(files) {
  const measured = document.getElementById("evaluate");
  const [file] = files;
  if (!measured && !document.querySelector('nav a[href="/import"]')) {
    tell("Files are imported by admins: your token lets you look.");
    return;
  }
  tell(`Reading ${file.name} …`, 60);
  const form = document.createElement("form");
  form.method = "post";
  form.action = measured ? "/evaluate" : "/import";
  form.enctype = "multipart/form-data";
  form.hidden = true;
  const token = document.createElement("input");
  token.name = "csrf";
  token.value = document.querySelector('meta[name="csrf"]').content;
  const input = document.createElement("input");
  input.type = "file";
  input.name = measured ? "files" : "file";
  input.multiple = Boolean(measured);
  const carried = new DataTransfer();
  for (const each of measured ? [...files].slice(0, 3) : [file]) carried.items.add(each);
  input.files = carried.files;
  form.append(token, input);
  document.body.append(form);
  form.submit();
}

export function enhance() {
  let depth = 0;
  const shade = (on) => document.body.classList.toggle("dropping", on);
  addEventListener("dragenter", (event) => { if (hasFile(event)) { depth += 1; shade(true); } });
  addEventListener("dragleave", (event) => { if (hasFile(event)) { depth -= 1; shade(depth > 0); } });
  addEventListener("dragover", (event) => { if (hasFile(event)) event.preventDefault(); });
  addEventListener("drop", (event) => {
    if (!hasFile(event)) return;
    event.preventDefault();
    depth = 0;
    shade(false);
    hand(event.dataTransfer.files);
  });
}
