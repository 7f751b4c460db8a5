// The workbench: examples on the left, pairs that were found on the right, answers that make the list better.
// What is looked for is kept in the browser's session storage, or with `bagpack teach` in files on the server.
"use strict";

(() => {
  const $ = (id) => document.getElementById(id);
  const bench = $("workbench");
  const form = $("asked");
  const file = bench.dataset.file;
  const KEY = "bagpack-find";
  const FAR = 70; // characters shown of a sentence on either side of the two words
  let state = { text: "", w1: "", w2: "", pos1: "", pos2: "", answers: [] };
  let rows = []; // as shown: what the server found, each with `answer` (true, false or undefined)
  let current = 0;
  let pointed = -1; // the row that the mouse was moved to last, unless a key was pressed since
  let alone = []; // lines of the examples with a single word
  let running = false;
  let again = false;

  const element = (tag, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };
  const keep = () => { try { sessionStorage.setItem(KEY, JSON.stringify(state)); } catch { /* not kept, then */ } };
  const fail = ({ message }) => { $("problem").textContent = message[0].toUpperCase() + message.slice(1).replace(/[^.?!]$/, "$&."); $("problem").hidden = false; };
  const name = (row) => row.w1 + " – " + row.w2;
  const same = (row, w1, w2) => row.w1 === w1 && row.w2 === w2;

  // Examples ----------------------------------------------------------------------------------------------------

  // A pair per line: two cells of a spreadsheet, or two words with a comma, semicolon, dash or one blank between.
  const parse = (text) => {
    const pairs = [];
    alone = [];
    for (const line of text.split(/\r?\n/)) {
      let cells = line.split(/\t|;|,|\s[–—-]\s/).map((cell) => cell.trim().replace(/^"(.*)"$/, "$1"));
      if (cells.length < 2) cells = line.trim().split(/\s+/);
      const [w1, w2] = cells;
      if (line.startsWith("#") || !(w1 || w2)) continue;
      if (!w1 || !w2) { alone.push(w1 || w2); continue; }
      if (!pairs.length && w1.toLowerCase() === "w1" && w2.toLowerCase() === "w2") continue;
      pairs.push([w1, w2]);
    }
    return pairs;
  };
  const asked = () => ({ pairs: parse(state.text), answers: state.answers, w1: state.w1, w2: state.w2, pos1: state.pos1, pos2: state.pos2 });

  const post = async (path, body) => {
    const asking = fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    const answer = await asking.catch(() => { throw new Error("the explorer does not answer; start it again in its terminal"); });
    const type = answer.headers.get("Content-Type") || "";
    const content = type.includes("json") ? await answer.json() : await answer.text();
    if (!answer.ok) throw new Error(content.error || content);
    return content;
  };

  const showUnknown = (unknown) => {
    $("unknown").replaceChildren(...Object.entries(unknown).map(([word, near]) => {
      const item = element("li", { className: "warn" }, "The corpus does not contain ", element("b", { textContent: word }), near.length ? ". Similar: " : ".");
      near.slice(0, 4).forEach((other, at) => {
        const button = element("button", { type: "button", className: "link", textContent: other.word });
        button.addEventListener("click", () => replaceWord(word, other.word));
        item.append(at ? ", " : "", file ? other.word : button);
      });
      return item;
    }), ...alone.slice(0, 3).map((word) => element("li", { className: "warn", textContent: "“" + word.slice(0, 30) + "” is alone on its line; give two words." })));
  };
  const replaceWord = (word, other) => {
    const plain = word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    $("pairs").value = $("pairs").value.replace(new RegExp("(^|[\\t,;\\s])" + plain + "(?=$|[\\t,;\\s])", "gm"), "$1" + other);
    changed();
  };
  let checking = 0;
  const changed = () => {
    state.text = $("pairs").value;
    keep();
    clearTimeout(checking);
    checking = setTimeout(async () => {
      const words = [...new Set(parse(state.text).flat())];
      try { showUnknown(words.length ? await post("/find/check.json", words) : {}); } catch { /* checked again when it is looked for */ }
    }, 400);
  };
  $("pairs").addEventListener("input", changed);
  for (const field of form.querySelectorAll("input[name], select[name]")) {
    field.addEventListener("change", () => { state[field.name] = field.value.trim(); keep(); });
  }
  const readFile = async (given) => {
    if (!given) return;
    const text = await given.text();
    if (text.includes("\0")) return fail({ message: "this is not a text file; copy the two columns in the spreadsheet and paste them here" });
    $("pairs").value = text;
    changed();
  };
  if (!file) {
    $("file").addEventListener("change", () => readFile($("file").files[0]));
    $("pairs").addEventListener("dragover", (event) => event.preventDefault());
    $("pairs").addEventListener("drop", (event) => {
      if (!event.dataTransfer.files.length) return;
      event.preventDefault();
      readFile(event.dataTransfer.files[0]);
    });
    $("clear").addEventListener("click", () => {
      state = { text: "", w1: "", w2: "", pos1: "", pos2: "", answers: [] };
      keep();
      form.reset();
      rows = [];
      showUnknown({});
      $("empty").hidden = false;
      draw();
      $("pairs").focus();
    });
  }

  // Searching ---------------------------------------------------------------------------------------------------

  const WHAT = { "word vectors": "Counting word vectors (once for each corpus)", candidates: "Collecting candidate pairs", negatives: "Drawing other pairs", model: "Training", words: "Counting contexts", pairs: "Counting pairs" };
  let watched = 0;
  const watch = async () => {
    const own = ++watched;
    const began = Date.now();
    while (running && own === watched) {
      await new Promise((done) => setTimeout(done, 500));
      if (!running || own !== watched || Date.now() - began < 1500) continue;
      try {
        const now = await (await fetch("/find/progress.json")).json();
        const share = now.total ? " " + Math.min(100, Math.round(100 * now.done / now.total)) + " %" : "";
        if (running) $("progress").textContent = (WHAT[now.what] || "Searching") + share + " …";
      } catch { /* shown at the next look */ }
    }
  };

  // The first list replaces everything. A later one replaces what is below the row that the reader or the mouse is at.
  const find = async (first) => {
    if (running) { again = true; return; }
    running = true;
    $("problem").hidden = true;
    $("go").disabled = first;
    if (first) { $("progress").textContent = "Searching …"; $("empty").hidden = true; $("progress").scrollIntoView({ block: "nearest" }); }
    watch();
    try {
      const found = await post("/find.json", asked());
      if (first) {
        rows = found.rows; current = 0; pointed = -1;
        // An answer to the list before, given while this one was being made, is kept.
        for (const row of rows) row.answer = (state.answers.find(([w1, w2]) => same(row, w1, w2)) || [])[2];
      } else {
        const stay = rows.slice(0, Math.max(current, pointed) + 1);
        const shown = new Set(stay.map(name));
        const fresh = found.rows.filter((row) => !shown.has(name(row)));
        rows = [...stay, ...fresh.slice(0, Math.max(Number(bench.dataset.shown) - stay.filter((row) => row.answer === undefined).length, 5))];
      }
      showUnknown(found.unknown);
      if (!again) showQuality(found); // else further answers were given, and a newer list follows
      for (const [at, id] of [[0, "pos1"], [1, "pos2"]]) if (!state[id]) form.elements[id].options[0].textContent = found.pos[at] ? found.pos[at] + " (found)" : "from examples";
      $("notes").replaceChildren(...found.notes.map((note) => element("li", { textContent: note })), element("li", { textContent: found.candidates.toLocaleString("en") + " candidate pairs" }));
      if (first && !rows.length) throw new Error("no pair was found; give other examples, or fewer conditions");
    } catch (error) {
      fail(error);
    }
    running = false;
    $("progress").textContent = "";
    $("go").disabled = false;
    draw();
    if (first) ($("found").firstElementChild || $("problem")).scrollIntoView({ block: innerWidth < 740 ? "start" : "nearest" }); // on a phone it is below
    if (again) { again = false; find(false); }
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    state.text = $("pairs").value;
    keep();
    find(true);
  });

  // The list ----------------------------------------------------------------------------------------------------

  const sentence = (row) => {
    if (!row.pieces.length) return element("p", { className: "line soft", textContent: "The two words never occur together." });
    const [far, left, one, between, two, right, end] = row.pieces;
    // What is far from the two words is cut; an opened row has whole sentences.
    const cut = (text, start) => {
      const at = start ? text.lastIndexOf(" ", text.length - FAR) : text.indexOf(" ", FAR);
      const kept = at < 1 ? text : start ? "…" + text.slice(at) : text.slice(0, at) + " …";
      return element("span", { className: "soft", textContent: kept });
    };
    const marked = (text) => [text.startsWith(" ") ? " " : "", element("mark", { textContent: text.trim() })];
    return element("p", { className: "line" }, cut(far, true), left, ...marked(one), between, ...marked(two), right, cut(end, false));
  };
  const verdict = (row, at, right, label, sign) => {
    const button = element("button", { type: "button", className: right ? "yes" : "no", textContent: sign });
    button.setAttribute("aria-label", label + ": " + name(row));
    button.setAttribute("aria-pressed", String(row.answer === right));
    button.addEventListener("click", () => answer(at, right));
    return button;
  };
  const item = (row, at) => {
    const bar = $("bar").content.firstElementChild.cloneNode(true);
    bar.firstElementChild.setAttribute("width", 8 + 92 * row.share + "%");
    const opener = element("button", { type: "button", className: "open", textContent: "▸" });
    opener.setAttribute("aria-label", "More about " + name(row));
    opener.setAttribute("aria-expanded", "false");
    const more = element("div", { className: "more", hidden: true });
    const made = element("li", { tabIndex: -1 }, element("div", { className: "row" }, opener,
      element("span", { className: "pair", textContent: name(row) }),
      element("span", { className: "score", title: "score " + row.score.toFixed(2) }, bar),
      element("span", { className: "soft together", title: row.unsure ? "asked because the model is unsure about it" : "", textContent: row.together.toLocaleString("en") + "× together" + (row.unsure ? " · unsure" : "") }),
      element("span", { className: "verdict" }, verdict(row, at, true, "Right", "✓"), verdict(row, at, false, "Wrong", "✗"))), sentence(row), more);
    made.className = row.answer === undefined ? "" : row.answer ? "is-right" : "is-wrong";
    const open = async () => {
      more.hidden = !more.hidden;
      opener.textContent = more.hidden ? "▸" : "▾";
      opener.setAttribute("aria-expanded", String(!more.hidden));
      if (more.hidden || more.dataset.state) return;
      more.dataset.state = "asked";
      more.replaceChildren(element("p", { className: "soft", textContent: "Looking up …" }));
      try {
        const text = await post("/find/row?" + new URLSearchParams({ w1: row.w1, w2: row.w2 }), asked());
        more.replaceChildren(...new DOMParser().parseFromString(text, "text/html").body.childNodes);
      } catch (error) {
        more.replaceChildren(element("p", { className: "warn", textContent: error.message }));
        delete more.dataset.state;
      }
    };
    opener.addEventListener("click", open);
    made.open = open;
    made.addEventListener("focusin", () => { current = at; mark(); });
    made.addEventListener("mousemove", () => { pointed = at; });
    return made;
  };
  const mark = () => [...$("found").children].forEach((child, at) => child.classList.toggle("current", at === current));
  // Rows that are shown already stay as they are, opened ones too.
  const draw = () => {
    const list = $("found");
    rows.forEach((row, at) => {
      const old = list.children[at];
      const key = name(row) + "\t" + row.answer + "\t" + row.unsure;
      if (old && old.dataset.key === key) return;
      const made = item(row, at);
      made.dataset.key = key;
      if (old) old.replaceWith(made); else list.append(made);
    });
    while (list.children.length > rows.length) list.lastChild.remove();
    for (const id of ["take", "quality", "keyrow"]) $(id).hidden = !rows.length;
    $("undo").disabled = !state.answers.length;
    $("given").hidden = !state.answers.length;
    $("given").querySelector("summary").textContent = "Answered (" + state.answers.length + ")";
    $("given-list").replaceChildren(...[...state.answers].reverse().map(([w1, w2, right]) => element("li", {}, element("span", { className: right ? "for" : "against", textContent: (right ? "✓ " : "✗ ") }), w1 + " – " + w2)));
    mark();
  };
  const go = (at) => {
    current = Math.max(0, Math.min(at, rows.length - 1));
    const target = $("found").children[current];
    if (target) { target.focus({ preventScroll: true }); target.scrollIntoView({ block: "nearest" }); }
    mark();
  };

  // Answers -----------------------------------------------------------------------------------------------------

  let saving = Promise.resolve();
  const saved = async (body) => {
    if (!file) return;
    saving = saving.catch(() => {}).then(() => post("/find/answer.json", body)); // one after the other
    state.answers = (await saving).answers;
  };
  const answer = async (at, right) => {
    const row = rows[at];
    if (!row || row.answer === right) return;
    const before = row.answer;
    const put = (value) => {
      row.answer = value;
      state.answers = state.answers.filter(([w1, w2]) => !same(row, w1, w2));
      if (value !== undefined) state.answers.push([row.w1, row.w2, value]);
      draw();
    };
    put(right);
    // The next key is for the next row, also while the answer is being saved.
    const next = rows.findIndex((other, place) => place > at && other.answer === undefined);
    go(next < 0 ? at : next);
    try {
      await saved({ w1: row.w1, w2: row.w2, answer: right ? "yes" : "no" });
    } catch (error) {
      put(before);
      return fail(error);
    }
    keep();
    find(false);
  };
  const undo = async () => {
    if (!state.answers.length) return;
    const [w1, w2] = state.answers[state.answers.length - 1];
    try {
      if (file) await saved({ answer: "undo" }); else state.answers = state.answers.slice(0, -1);
    } catch (error) {
      return fail(error);
    }
    keep();
    const at = rows.findIndex((row) => same(row, w1, w2));
    if (at >= 0) { rows[at].answer = undefined; current = at; }
    draw();
    if (at >= 0) go(at);
    find(false);
  };
  $("undo").addEventListener("click", undo);

  const percent = (value) => Math.round(100 * value);
  const showQuality = (found) => {
    let text = !found.answered ? "Mark pairs as right or wrong, and the list gets better." : found.right + " of " + found.answered + " right (95 %: " + percent(found.low) + "–" + percent(found.high) + " %)";
    if (found.held_out !== null) {
      text += found.kept
        ? ". The last answers made the list worse on the answers that are held out, so the list before them is kept."
        : "; average precision on the answers that are held out: " + percent(found.held_out) + " % (before: " + percent(found.before) + " %)";
    }
    $("quality-text").textContent = text;
    // The share of right answers among the last ten, after each answer.
    const points = state.answers.map((_, at) => {
      const last = state.answers.slice(Math.max(0, at - 9), at + 1);
      return [state.answers.length < 2 ? 0 : 120 * at / (state.answers.length - 1), 31 - 30 * last.filter((one) => one[2]).length / last.length];
    });
    $("curve").toggleAttribute("hidden", points.length < 3);
    $("curve").querySelector("polyline").setAttribute("points", points.map((point) => point.map((x) => x.toFixed(1)).join(",")).join(" "));
  };

  $("download").addEventListener("submit", () => { $("download").elements.state.value = JSON.stringify(asked()); });

  document.addEventListener("keydown", (event) => {
    if (!window.bagpackKeys || !rows.length || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
    pointed = -1;
    if (event.key === "j") go($("found").contains(document.activeElement) ? current + 1 : current);
    else if (event.key === "k") go(current - 1);
    else if (event.key === "y" || event.key === "n") { if (!event.repeat) answer(current, event.key === "y"); }
    else if (event.key === "u") { if (!event.repeat) undo(); }
    else if (event.key === "o") $("found").children[current].open();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  // The task survives every click: it is there again when the page is opened again.
  (async () => {
    if (file) {
      const task = await (await fetch("/find/task.json")).json();
      state.text = task.pairs.map((pair) => pair.join("\t")).join("\n");
      state.answers = task.answers;
    } else {
      try { state = { ...state, ...JSON.parse(sessionStorage.getItem(KEY)) }; } catch { /* begin anew */ }
      const given = new URLSearchParams(location.search).get("pairs");
      if (given) { state = { text: given, w1: "", w2: "", pos1: "", pos2: "", answers: [] }; keep(); }
    }
    $("pairs").value = state.text;
    for (const id of ["w1", "w2", "pos1", "pos2"]) form.elements[id].value = state[id];
    draw();
    if (parse(state.text).length) find(true);
  })();
})();
