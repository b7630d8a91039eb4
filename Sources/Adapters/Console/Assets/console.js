// Keyboard shortcuts, copy buttons and uploads. Every page also works without this script.
const isWriting = (element) => element.closest("input, textarea, select, [contenteditable]") !== null;
const areKeysOff = () => localStorage.getItem("keys") === "off";

// Users can turn shortcuts off. Shortcuts do not work in text fields (WCAG 2.1.4).
let isGoing = false;
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "k" && !isWriting(event.target) && !areKeysOff()) {
    event.preventDefault();
    document.getElementById("find")?.focus();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target) || areKeysOff()) return;
  if (event.target.closest(".map")) return;
  const follow = (selector) => {
    const link = document.querySelector(selector);
    if (link) link.click();
  };
  if (isGoing) {
    isGoing = false;
    if (/^[a-z]$/.test(event.key)) follow(`nav [data-key="${event.key}"]`);
    return;
  }
  switch (event.key) {
    case "/":
      event.preventDefault();
      document.getElementById("find")?.focus();
      break;
    case "g":
      isGoing = true;
      break;
    case "?":
      follow('footer [data-key="?"]');
      break;
    case "e":
      follow('main [data-key="e"]');
      break;
    case "j":
    case "k": {
      const rows = [...document.querySelectorAll("main .row")];
      const next = rows.indexOf(document.activeElement) + (event.key === "j" ? 1 : -1);
      rows[Math.min(Math.max(next, 0), rows.length - 1)]?.focus();
      break;
    }
  }
});

const keys = document.getElementById("keys");
if (keys) {
  const texts = [keys.textContent, keys.dataset.off];
  const show = () => { keys.textContent = texts[areKeysOff() ? 1 : 0]; };
  keys.addEventListener("click", () => {
    localStorage.setItem("keys", areKeysOff() ? "on" : "off");
    show();
  });
  keys.hidden = false;
  show();
}

for (const button of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) break;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "Copied";
  });
}

// Sends a file unchanged. The response contains the next address or the error.
for (const form of document.querySelectorAll("[data-upload]")) {
  const file = form.querySelector('[type="file"]');
  const status = form.querySelector('[role="status"]');
  const { upload, types } = form.dataset;
  form.hidden = false;
  form.previousElementSibling.hidden = true;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const known = types.split(" ");
    // Systems disagree about the type of CSV files.
    const type = known.length === 1 ? known[0] : file.files[0].type;
    const fields = [...new FormData(form)].filter(([, value]) => typeof value === "string" && value !== "");
    status.textContent = "Sending…";
    try {
      const response = await fetch(`${upload}?${new URLSearchParams(fields)}`, {
        method: "POST", headers: { "Content-Type": type }, body: file.files[0],
      });
      const result = await response.json();
      status.textContent = result.error ?? "";
      if (response.ok) location.href = result.next;
    } catch {
      status.textContent = "The upload failed. Sign in again, or try again later.";
    }
  });
}
