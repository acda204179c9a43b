// Before the scripts have come: keys, buttons and dropped files wait in their order, each with the record that was shown,
// and are handed over once; what is lost is told. This is inlined in <head>; the content security policy has its hash.
(() => {
  const KEYS = /^([jkynmuUwe?1-9]|Enter)$/;
  const FIELDS = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]";
  const LOST = "A key was pressed before its record was there, and did nothing. Press it again.";
  const waiting = [];
  const ears = new AbortController();
  const find = (selector) => document.querySelector(selector);
  const say = (text) => { const line = find("#told"); if (line) line.textContent = text; };
  const shown = () => find('#decide [name="id"]')?.value ?? find(".list > .row")?.dataset.id;
  const hear = (kind, act) => addEventListener(kind, act, { capture: true, signal: ears.signal });
  const stored = (act) => { try { return act(sessionStorage); } catch { return null; } }; // it may be switched off
  const before = stored((store) => store.getItem("germane-lost")); // by the page that was here
  stored((store) => store.removeItem("germane-lost"));

  function wait(item) {
    waiting.push({ ...item, shown: shown() });
    say("The page is still loading. What you pressed counts as soon as it is ready.");
  }

  hear("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.repeat || event.isComposing) return;
    if (event.target.closest?.(FIELDS)) return;
    if (event.key === "/") {
      event.preventDefault();
      find("#q")?.select();
    } else if (KEYS.test(event.key) && !(event.key === "Enter" && event.target.closest?.("a, button, summary"))) {
      if (shown() !== undefined || event.key === "?" || document.readyState === "loading") wait({ key: event.key, target: event.target });
    }
  });
  hear("submit", (event) => { // alone it goes its way without scripts; behind a key it waits its turn
    if (!waiting.length) return;
    event.preventDefault();
    wait({ form: event.target, button: event.submitter });
  });
  hear("dragover", (event) => { if ([...event.dataTransfer.types].includes("Files")) event.preventDefault(); });
  hear("drop", (event) => {
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    wait({ files: [...event.dataTransfer.files] });
  });
  hear("pagehide", () => { if (waiting.length) stored((store) => store.setItem("germane-lost", LOST)); });
  hear("error", (event) => { // a script that cannot be had
    if (event.target.tagName !== "SCRIPT") return;
    const form = taken().findLast((item) => item.form);
    if (form) form.form.requestSubmit(form.button);
    say("The scripts of this page could not be loaded, so keys do nothing. Buttons and links work.");
  });
  /** What waited and still fits what is shown, once; `lost` is a sentence where something did not. */
  function taken() {
    ears.abort();
    const now = shown();
    const all = waiting.splice(0);
    const fit = all.filter((item) => item.shown === now);
    return Object.assign(fit, { lost: before || fit.length < all.length ? LOST : "", any: Boolean(before) || all.length > 0 });
  }
  window.germaneEarly = taken;
})();
