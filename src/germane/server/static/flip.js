// First, last, invert, play: rows glide from where they were to where they are, within a quarter of a second.

const still = matchMedia("(prefers-reduced-motion: reduce)");

/** Change the list, and let what moved be seen to move. */
export function glide(root, change) {
  const before = new Map([...root.querySelectorAll(".row[data-id]")].map((row) => [row.dataset.id, row.getBoundingClientRect().top]));
  change();
  if (still.matches) return;
  for (const row of root.querySelectorAll(".row[data-id]")) {
    const was = before.get(row.dataset.id);
    const now = row.getBoundingClientRect().top;
    if (was === undefined) {
      row.animate([{ opacity: 0 }, { opacity: 1 }], { duration: 200, easing: "ease-out" });
    } else if (Math.abs(was - now) > 1) {
      row.animate([{ transform: `translateY(${was - now}px)` }, { transform: "none" }], { duration: 240, easing: "cubic-bezier(.2,.7,.3,1)" });
    }
  }
}
