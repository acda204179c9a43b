// A job in the background: its steps as they come, and the page anew when it has ended.

export function enhance() {
  const panel = document.querySelector("[data-job]");
  const step = panel?.querySelector(".step");
  if (!step) return;
  const stream = new EventSource(`/api/v1/jobs/${panel.dataset.job}/events`);
  stream.addEventListener("progress", (event) => { step.textContent = JSON.parse(event.data).step || "waiting"; });
  stream.addEventListener("done", () => {
    stream.close();
    location.reload();
  });
  addEventListener("pagehide", () => stream.close());
}
