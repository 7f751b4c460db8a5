// Completion, and lines that open below a feature. Without this file every page works: the links lead to pages.
"use strict";

const say = (text) => { document.getElementById("said").textContent = text; };

// Completion: the words that begin so, most frequent first, in the field's own list.
for (const field of document.querySelectorAll("input[data-complete]")) {
  const list = document.getElementById(field.id + "-list");
  let timer = 0;
  let asked = "";
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const start = field.value.trim();
      if (start === asked || start === "" || start.includes(" ")) return;
      asked = start;
      try {
        const answer = await fetch("/complete.json?" + new URLSearchParams({ q: start }));
        const found = await answer.json();
        if (asked !== start || !answer.ok) return;
        list.replaceChildren(...found.map((item) => {
          const option = document.createElement("option");
          option.value = item.word;
          option.label = item.word + " (" + item.count.toLocaleString("en") + ")";
          return option;
        }));
      } catch { /* no completion, then */ }
    }, 120);
  });
}

// A feature's lines are fetched when it is opened for the first time. The server has escaped them.
document.addEventListener("toggle", async (event) => {
  const feature = event.target;
  if (!(feature instanceof HTMLElement) || !feature.dataset.lines || !feature.open || feature.dataset.state) return;
  feature.dataset.state = "asked";
  const place = feature.querySelector(".lines");
  try {
    const answer = await fetch(feature.dataset.lines);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    place.replaceChildren(page.querySelector("#lines, .warn"));
    if (answer.ok) say(place.querySelectorAll("li").length + " lines shown");
    else delete feature.dataset.state; // too busy, perhaps: the next opening asks again
  } catch {
    delete feature.dataset.state; // the link to the lines' own page is still there
  }
}, true);

// Shortcuts of one key can be turned off: speech input and stray keys would set them off.
const keys = document.getElementById("keys");
const stored = (value) => {
  try {
    if (value !== undefined) localStorage.setItem("bagpack-keys", value);
    return localStorage.getItem("bagpack-keys");
  } catch { return null; } // no storage: on, as long as the page is open
};
let on = stored() !== "off";
const showKeys = () => {
  window.bagpackKeys = on;
  keys.setAttribute("aria-pressed", String(on));
  keys.textContent = on ? "Shortcuts on (/ n p)" : "Shortcuts off";
};
keys.hidden = false;
keys.addEventListener("click", () => {
  on = !on;
  stored(on ? "on" : "off");
  showKeys();
});
showKeys();

// n and p go to the next and previous page, / to the search box, unless someone is typing.
document.addEventListener("keydown", (event) => {
  if (!on) return;
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
  const wanted = { n: "next", p: "prev" }[event.key];
  const link = wanted && document.querySelector('a[rel="' + wanted + '"]');
  if (link) link.click();
  if (event.key === "/") {
    event.preventDefault();
    document.querySelector(".big-find input, .find input").focus();
  }
});
