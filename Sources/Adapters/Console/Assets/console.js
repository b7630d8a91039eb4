// Keys and copying. Every page works without this.
const isWriting = (element) => element.closest("input, textarea, select, [contenteditable]") !== null;
const areKeysOff = () => localStorage.getItem("keys") === "off";

// A single letter can be switched off, and is none where something is written (WCAG 2.1.4).
let isGoing = false;
document.addEventListener("keydown", (event) => {
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
