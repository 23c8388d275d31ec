// What HTML cannot do alone: keys, kept drafts, scrolling, sheets and dialogs. No words are kept longer than needed.
"use strict";

const byId = (id) => document.getElementById(id);
const words = byId("words");
const talkArea = byId("scroll");
const composer = byId("composer");
const path = document.body.dataset.path;
const draftOf = (where) => `draft ${where}`;

// The message box: Enter sends, the text is kept until it has arrived.
function grow() {
  if (CSS.supports("field-sizing", "content")) return;
  words.style.height = "auto";
  words.style.height = `${words.scrollHeight}px`;
}

function keep() {
  if (words.value) sessionStorage.setItem(draftOf(path), words.value.slice(0, 2000000));
  else sessionStorage.removeItem(draftOf(path));
}

function fill(text) {
  words.value = text;
  grow();
  keep();
  words.focus();
}

words.addEventListener("input", () => { grow(); keep(); });
words.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229) return;
  event.preventDefault();
  const twice = !words.value && composer.classList.contains("htmx-request");
  if (!twice) composer.requestSubmit();
});

const onTheWay = new WeakMap();
composer.addEventListener("htmx:beforeRequest", (event) => {
  if (event.target !== composer) return;
  onTheWay.set(event.detail.xhr, event.detail.requestConfig.parameters.text || "");
  byId("notice").replaceChildren();
});
composer.addEventListener("htmx:configRequest", (event) => {
  if (event.target !== composer) return;
  words.value = "";
  grow();
});
composer.addEventListener("htmx:afterRequest", (event) => {
  if (event.target !== composer) return;
  const sent = onTheWay.get(event.detail.xhr) || "";
  if (event.detail.successful) {
    keep();
    toEnd();
    return;
  }
  words.value = words.value ? `${sent}\n${words.value}` : sent;
  grow();
  keep();
  if (!event.detail.xhr.status) say("teambot does not answer. Is it still running? Your text is kept.");
});

function say(sentence) {
  const line = document.createElement("p");
  line.className = "notice";
  line.textContent = sentence;
  byId("notice").replaceChildren(line);
}

// The talk: stay at the end while one is at the end, tell a reader of the screen what was answered.
const atEnd = () => talkArea.scrollHeight - talkArea.scrollTop - talkArea.clientHeight < 120;
const toEnd = () => { talkArea.scrollTop = talkArea.scrollHeight; };
const answers = () => [...document.querySelectorAll("#lines [data-answer]")];
let newest = answers().at(-1)?.dataset.answer;
let before = { end: true, left: 0, top: 0 };

const rowIds = () => new Set([...document.querySelectorAll("#memories .row")].map((row) => row.id));
const openDetails = () => [...document.querySelectorAll("#memories details[open]")].map((part) => part.id);

document.body.addEventListener("htmx:beforeSwap", () => {
  before = { rows: rowIds(), open: openDetails(), end: atEnd(), left: talkArea.scrollHeight - talkArea.scrollTop, top: talkArea.scrollTop };
});
document.body.addEventListener("htmx:afterSwap", (event) => {
  const target = event.detail.target || event.target;
  if (["lines", "drafts"].includes(target.id)) dropDrafts();
  if (target.id === "memories") markFresh(event.detail.requestConfig?.elt?.id === "search");
  if (target.id === "lines") {
    tellAnswer();
    if (event.detail.requestConfig?.elt?.classList.contains("earlier")) talkArea.scrollTop = talkArea.scrollHeight - before.left;
    else if (!before.end) talkArea.scrollTop = before.top;
  }
  if (target.id === "aside" || (before.end && ["lines", "drafts"].includes(target.id))) toEnd();
  if (target.id.startsWith("answer-") || target.id === "receipt" || target.id === "aside") {
    target.querySelector("button.primary, button.destroy")?.focus();
  }
  if (target.id === "receipt") document.querySelectorAll(".row-answer, #aside, #announce").forEach((part) => part.replaceChildren());
});
document.body.addEventListener("htmx:sseBeforeMessage", () => { before.end = atEnd(); });
document.body.addEventListener("htmx:sseMessage", (event) => {
  if (event.target.id === "boot") {
    if (event.detail.data !== document.body.dataset.boot) location.reload();
  } else if (before.end) toEnd();
});

function markFresh(searched) {
  before.open.forEach((id) => byId(id)?.setAttribute("open", ""));
  if (searched || byId("search").value) return;
  const fresh = [...document.querySelectorAll("#memories .row:not(.past)")].filter((row) => !before.rows.has(row.id));
  fresh.forEach((row) => row.classList.add("fresh"));
  if (fresh.length) announce(`Remembered: ${fresh[0].querySelector(".row-text").textContent}`);
}

let hush;
function announce(sentence) {
  clearTimeout(hush);
  byId("announce").textContent = sentence;
  hush = setTimeout(() => byId("announce").replaceChildren(), 8000);
}

function dropDrafts() {
  const shown = new Set(answers().map((line) => line.dataset.answer));
  document.querySelectorAll("[data-draft]").forEach((draft) => shown.has(draft.dataset.draft) && draft.remove());
}

function tellAnswer() {
  const last = answers().at(-1);
  if (!last || last.dataset.answer === newest) return;
  newest = last.dataset.answer;
  announce((last.querySelector(".words")?.textContent || "").slice(0, 1000));
}

// The wire of news: open while somebody looks, so that many tabs do not use up the browser's connections.
const plug = () => {
  if (!byId("plug").firstElementChild) htmx.swap("#plug", byId("wire").innerHTML, { swapStyle: "innerHTML" });
};
const unplug = () => htmx.swap("#plug", "", { swapStyle: "innerHTML" });
let later;
document.addEventListener("visibilitychange", () => {
  clearTimeout(later);
  if (document.hidden) later = setTimeout(unplug, 30000);
  else plug();
});

// Sheets on a phone, dialogs, things to try, things to close.
function sheet(name) {
  if (name) document.body.dataset.open = name;
  else delete document.body.dataset.open;
  const pane = name && byId(name);
  (pane ? pane.querySelector("[data-close-sheet]") : words)?.focus({ preventScroll: true });
}

document.addEventListener("click", (event) => {
  const at = (selector) => event.target.closest(selector);
  if (at("[data-sheet]")) sheet(at("[data-sheet]").dataset.sheet);
  else if (at("[data-close-sheet]")) sheet(null);
  else if (at("[data-dialog]")) byId(at("[data-dialog]").dataset.dialog).showModal();
  else if (at("[data-close-dialog]")) at("dialog").close();
  else if (at("[data-dismiss]")) at(at("[data-dismiss]").dataset.dismiss).remove();
  else if (at("[data-cancel]")) cancel(at("[data-cancel]"));
  else if (at("[data-fill]")) tryOut(event, at("[data-fill]"));
  const model = document.querySelector("details.model[open]");
  if (model && !model.contains(event.target)) model.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  document.querySelector("details.model[open]")?.removeAttribute("open");
  if (document.body.dataset.open) sheet(null);
});

function cancel(button) {
  const row = button.closest(".row");
  (button.closest(".result") || button.closest(".card")).remove();
  (row?.querySelector(".forget") || words).focus();
}

function tryOut(event, link) {
  const where = new URL(link.href).pathname;
  sessionStorage.setItem(draftOf(where), link.dataset.fill);
  if (where === path) {
    event.preventDefault();
    fill(link.dataset.fill);
  }
}

function find() {
  const line = location.hash.startsWith("#m-") && byId(decodeURIComponent(location.hash.slice(1)));
  if (!line) return false;
  line.classList.add("found");
  line.scrollIntoView({ block: "center" });
  return true;
}

words.value = sessionStorage.getItem(draftOf(path)) || "";
grow();
if (!find()) toEnd();
window.addEventListener("hashchange", find);
if (matchMedia("(min-width: 800px)").matches) words.focus({ preventScroll: true });
plug();
