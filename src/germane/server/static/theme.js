// Light or dark, at once and for the next visit.

export function enhance() {
  document.getElementById("theme")?.addEventListener("submit", (event) => {
    event.preventDefault();
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    document.cookie = `germane_theme=${root.dataset.theme}; path=/; max-age=31536000; samesite=strict`;
    event.submitter.value = dark ? "dark" : "light";
  });
}
