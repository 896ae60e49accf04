// Show what a comparison is doing until it is over; then load the page again, which has the result.

const card = /** @type {HTMLElement} */ (document.getElementById("progress"));
const stage = /** @type {HTMLElement} */ (document.getElementById("stage"));
const events = new EventSource(`/api/v1/runs/${card.dataset.run}/events`);

events.addEventListener("message", (event) => {
  const run = JSON.parse(event.data);
  if (run.state === "done" || run.state === "failed") {
    events.close();
    location.reload();
  } else if (run.progress) {
    stage.textContent = run.progress;
  }
});
