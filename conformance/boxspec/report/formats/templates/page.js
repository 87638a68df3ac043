"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const find = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const dialog = find("dialog");
const form = find(".filters");
const runs = new Map(data.runs.map((run) => [run.slug, run]));

// Text from a shim enters the page only as text nodes.
function made(tag, text = "", properties = {}) {
  const element = document.createElement(tag);
  element.textContent = text;
  return Object.assign(element, properties);
}

// A long name of a test may be broken after each underscore, and nowhere else.
function breakable(tag, text, properties = {}) {
  const element = made(tag, "", properties);
  for (const part of text.split(/(?<=_|\/)/)) element.append(part, document.createElement("wbr"));
  return element;
}

function badge(verdict) {
  return made("span", `${data.signs[verdict]} ${verdict}`, { className: `v ${verdict}` });
}

// The fragment of a test is derived from its id, so links work in later reports too.
function fragment(test) {
  return "test-" + test.replace(/^conformance\/contracts\//, "").replace(/[^A-Za-z0-9._-]+/g, "-");
}
const fragments = new Map();
const testIds = data.tests.map((test) => {
  const wanted = fragment(test);
  const count = fragments.get(wanted) ?? 0;
  fragments.set(wanted, count + 1);
  return count ? `${wanted}.${count + 1}` : wanted;
});

// Tabs ----------------------------------------------------------------------------------------

const tabs = all("[role=tab]");
const panelOf = (tab) => document.getElementById(tab.getAttribute("aria-controls"));

function show(tab, focus = false) {
  for (const each of tabs) {
    const selected = each === tab;
    each.setAttribute("aria-selected", selected);
    each.tabIndex = selected ? 0 : -1;
    panelOf(each).hidden = !selected;
  }
  if (tab.id === "tab-tests") buildTests();
  form.dataset.view = tab.id;
  if (focus) tab.focus();
  filter();
}

find("[role=tablist]").addEventListener("click", (event) => {
  const tab = event.target.closest("[role=tab]");
  if (tab) show(tab);
});
find("[role=tablist]").addEventListener("keydown", (event) => {
  const at = tabs.indexOf(document.activeElement);
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
  if (at < 0 || to === undefined) return;
  event.preventDefault();
  show(tabs[(to + tabs.length) % tabs.length], true);
});

// Tests and timings ---------------------------------------------------------------------------

let testRows = null;

function buildTests() {
  if (testRows) return;
  // Names of many columns stand upright, as in the matrix.
  const many = data.runs.length > 3;
  const table = made("table", "", { className: `matrix tests${many ? " upright" : ""}` });
  table.style.setProperty("--columns", data.runs.length);
  const head = table.createTHead().insertRow();
  const names = data.runs.map((run) => [many ? run.short : run.name, run.name]);
  [["test", "test"], ...names].forEach(([name, title], column) => {
    const cell = made("th", "", { scope: "col" });
    const button = made("button", "", { type: "button", title, onclick: () => sort(column) });
    button.append(made("span", name));
    cell.append(button);
    head.append(cell);
  });
  head.cells[0].className = "what";
  testRows = data.tests.map((test, number) => {
    const row = made("tr", "", { id: testIds[number] });
    const name = made("th", "", { scope: "row" });
    const [file, rest] = test.split("::");
    name.append(breakable("a", rest ?? file, { href: `#${row.id}` }), " ");
    name.append(breakable("small", file.split("/").slice(-2).join("/")), " ");
    for (const id of data.asks[number]) name.append(made("a", id, { href: `#${id}` }), " ");
    row.append(name);
    row.dataset.contract = data.asks[number][0].split("-")[0].toLowerCase();
    const first = data.requirements[data.asks[number][0]];
    if (first) [row.dataset.level, row.dataset.profile] = first;
    for (const run of data.runs) {
      const cell = row.insertCell();
      const [verdict, , seconds] = run.tests[number] ?? ["not asked"];
      cell.className = `n v ${verdict.replace(" ", "-")}`;
      if (seconds === undefined) continue;
      cell.dataset.seconds = seconds;
      cell.append(
        made("a", `${data.signs[verdict]} ${seconds.toFixed(3)} s`, {
          href: `#${run.slug}/${row.id}`,
          title: verdict,
        }),
      );
    }
    return row;
  });
  place(table, testRows);
  find("#panel-tests .frame").append(table);
}

// Group rows into several tbody elements, because the browser skips the layout of hidden ones.
function place(table, rows) {
  for (const body of [...table.tBodies]) body.remove();
  for (let first = 0; first < rows.length; first += 40) {
    table.createTBody().append(...rows.slice(first, first + 40));
  }
}

function sort(column) {
  const seconds = (row) => Number(row.cells[column].dataset.seconds ?? -1);
  const order = column
    ? [...testRows].sort((one, two) => seconds(two) - seconds(one))
    : testRows;
  place(find("#panel-tests table"), order);
  filter();
}

// Filters -------------------------------------------------------------------------------------

const words = new WeakMap();

function textOf(row) {
  if (!words.has(row)) words.set(row, row.textContent.toLowerCase());
  return words.get(row);
}

function fits(row, wanted) {
  if (wanted.level && row.dataset.level && row.dataset.level !== wanted.level) return false;
  if (wanted.profile && row.dataset.profile && row.dataset.profile !== wanted.profile) return false;
  const contract = row.dataset.contract ?? row.parentElement.dataset.contract;
  if (wanted.contract && contract !== wanted.contract) return false;
  if (wanted.text && !wanted.text.every((word) => textOf(row).includes(word))) return false;
  const cells = all("td.v", row);
  if (wanted.verdicts.length) {
    if (!cells.some((cell) => wanted.verdicts.some((name) => cell.classList.contains(name)))) return false;
  }
  if (!wanted.differ) return true;
  const own = (cell) => [...cell.classList].filter((name) => name !== "n" && name !== "known").join();
  return new Set(cells.map(own)).size > 1;
}

function filter() {
  const panel = find("[role=tabpanel]:not([hidden])");
  const wanted = {
    text: find("#text").value.toLowerCase().split(/\s+/).filter(Boolean),
    level: find("#level").value,
    profile: find("#profile").value,
    contract: find("#contract").value,
    verdicts: all("[name=verdict]:checked").map((box) => box.value),
    differ: find("#differ")?.checked ?? false,
  };
  if (panel.id === "panel-faults") Object.assign(wanted, { verdicts: [], differ: false });
  if (!wanted.text.length) wanted.text = null;
  const everything = !Object.values(wanted).some((each) => each?.length ?? each);
  if (everything && !panel.dataset.filtered) {
    find("#count").value = "";
    rove(panel);
    return;
  }
  panel.dataset.filtered = "yes";
  let shown = 0;
  let of = 0;
  for (const body of all("tbody", panel)) {
    let mine = 0;
    for (const row of body.rows) {
      if (row.className === "topic") continue;
      of += 1;
      row.hidden = !fits(row, wanted);
      mine += !row.hidden;
    }
    shown += mine;
    body.hidden = mine === 0;
  }
  find("#count").value = `${shown} of ${of}`;
  rove(panel);
}

form.addEventListener("input", () => {
  filter();
  rememberFilters();
});
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () =>
  setTimeout(() => {
    filter();
    rememberFilters();
  }),
);

// The filters are in the query of the address, so that a link shows the same rows.
function rememberFilters() {
  const query = new URLSearchParams();
  for (const name of ["text", "level", "profile", "contract"]) {
    if (find(`#${name}`).value) query.set(name, find(`#${name}`).value);
  }
  for (const box of all("[name=verdict]:checked")) query.append("verdict", box.value);
  if (find("#differ")?.checked) query.set("differ", "yes");
  const text = query.toString();
  try {
    history.replaceState(null, "", `${location.pathname}${text ? `?${text}` : ""}${location.hash}`);
  } catch {
    // A browser may refuse this for a page that was opened from a file.
  }
}

function recallFilters() {
  const query = new URLSearchParams(location.search);
  for (const name of ["text", "level", "profile", "contract"]) {
    find(`#${name}`).value = query.get(name) ?? "";
  }
  for (const box of all("[name=verdict]")) box.checked = query.getAll("verdict").includes(box.value);
  if (find("#differ")) find("#differ").checked = query.has("differ");
}

// Keyboard: Tab reaches one cell of a matrix, arrow keys move from there ------------------------

function rove(panel) {
  const old = find(".matrix a[tabindex='0']", panel);
  if (old && !old.closest("[hidden]")) return;
  if (old) old.tabIndex = -1;
  const first = find(".matrix tbody:not([hidden]) tr:not([hidden]) td a", panel);
  if (first) first.tabIndex = 0;
}

const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

function onArrow(event) {
  const cell = event.target.closest?.(".matrix td");
  const step = STEPS[event.key];
  if (!cell || !step || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  const rows = all("tr:not([hidden])", cell.closest("table")).filter((row) => row.cells[1] && !row.closest("[hidden]"));
  let [row, column] = [rows.indexOf(cell.parentElement), cell.cellIndex];
  let link = null;
  do {
    row += step[0];
    column += step[1];
    const next = rows[row]?.cells[column];
    if (!next) return;
    link = find("td a", rows[row]) && next.tagName === "TD" ? find("a", next) : null;
  } while (!link);
  find("a[tabindex='0']", cell.closest("table")).tabIndex = -1;
  link.tabIndex = 0;
  link.focus();
}

// The cells of failures in the open tab, in the order of the page.
const BROKEN = ["fails", "escaped", "contradiction", "overrefused", "wrong-reason", "unproven"];

function toFailure(step) {
  const panel = find("[role=tabpanel]:not([hidden])");
  const cells = all(BROKEN.map((name) => `td.${name}:not(.known) a`).join(), panel);
  const shown = cells.filter((link) => !link.closest("[hidden]"));
  if (!shown.length) return;
  const at = shown.findIndex((link) => link.getAttribute("href") === location.hash);
  const next = at < 0 ? (step > 0 ? 0 : shown.length - 1) : at + step;
  location.hash = shown[(next + shown.length) % shown.length].getAttribute("href");
}

document.addEventListener("keydown", (event) => {
  const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
  if (plain && (event.key === "n" || event.key === "p") && !event.target.closest?.("input, select")) {
    toFailure(event.key === "n" ? 1 : -1);
    return;
  }
  const typing = event.target.closest?.("input, select, textarea, dialog");
  if (event.key === "/" && !typing) {
    event.preventDefault();
    find("#text").focus();
  } else onArrow(event);
});

// Details of a cell ---------------------------------------------------------------------------

function copying(text) {
  return made("button", "copy", {
    type: "button",
    className: "copy",
    onclick: (event) => copy(event.target, text),
  });
}

async function copy(button, text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // The clipboard API is not available to pages opened from a file; execCommand is.
    const area = made("textarea", text);
    button.after(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  button.textContent = "copied";
}

function commandLine(text) {
  const line = made("p", "", { className: "again" });
  line.append(made("code", text), copying(text));
  return line;
}

function testPart(run, number) {
  const part = made("section");
  const [verdict, seconds, shim] = run.tests[number];
  const head = made("h3");
  head.append(badge(verdict), " ", breakable("a", data.tests[number], { href: `#${testIds[number]}` }));
  part.append(head);
  part.append(made("p", `${seconds.toFixed(3)} s, of the shim ${shim.toFixed(3)} s`, { className: "hint" }));
  const block = run.blocks[number];
  if (!block && run.reasons[number]) part.append(made("p", run.reasons[number]));
  for (const [what, limit, spare, took, waited] of run.bounds[number] ?? []) {
    const said = `${what}: ${took} ms, at most ${limit} ms (+${spare} ms measurement allowance); up to ${waited} ms may be scheduling delay`;
    part.append(made("p", said, { className: "hint" }));
  }
  if (block) {
    part.append(made("pre", block[0] + (block[1] ? "\n…" : "")));
    if (block[1]) {
      const more = made("p");
      more.append(made("a", "the whole evidence", { href: `data/${block[1]}` }));
      part.append(more);
    }
  }
  if (run.repro[number]) part.append(commandLine(run.repro[number]));
  return part;
}

function open(run, id, focused) {
  const [reason, since, numbers] = run.requirements[id];
  const [level, profile, clause, source, links] = data.requirements[id];
  find("#shown-head").textContent = `${id} · ${run.name}`;
  const shown = find("#shown");
  const rule = made("p", `${level}, ${profile}: `);
  // Parts in backticks are shown as code, as in the matrix.
  clause.split(/(`+)(.+?)\1(?!`)/).forEach((part, place) => {
    if (place % 3 !== 1) rule.append(place % 3 ? made("code", part.trim()) : part);
  });
  shown.replaceChildren(rule);
  if (since) shown.append(made("p", since, { className: "since" }));
  if (reason) shown.append(made("p", reason));
  const conforms = (number) => run.tests[number][0] === "conforms";
  const order = [...numbers].sort((one, two) => conforms(one) - conforms(two));
  if (!order.length) shown.append(made("p", "No test of it was run."));
  for (const number of order.slice(0, 40)) {
    const part = testPart(run, number);
    shown.append(part);
    if (number === focused) setTimeout(() => part.scrollIntoView());
  }
  if (order.length > 40) shown.append(made("p", `${order.length - 40} more tests are in the tab of tests.`));
  for (const [fault, mistake] of data.caught[id] ?? []) {
    const line = made("p", `catches the mistake: ${mistake} `, { className: "hint" });
    line.append(made("a", fault, { href: `#fault-${fault}` }));
    shown.append(line);
  }
  const from = made("p", `source: ${source}`, { className: "hint" });
  for (const [name, href] of Object.entries(links)) from.append(" · ", made("a", name, { href }));
  shown.append(from);
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
}

// Links to fragments --------------------------------------------------------------------------

function reveal(element) {
  const panel = element.closest("[role=tabpanel]");
  if (panel) {
    show(tabs.find((tab) => panelOf(tab) === panel));
    if (element.closest("[hidden]")) {
      form.reset();
      filter();
    }
  }
  if (element.tagName === "DETAILS") element.open = true;
  element.scrollIntoView({ block: "center" });
  for (const old of all("tr.here")) old.classList.remove("here");
  if (element.tagName === "TR") element.classList.add("here");
}

function follow() {
  let wanted = "";
  try {
    wanted = decodeURIComponent(location.hash.slice(1));
  } catch {
    return;
  }
  const [slug, inner] = wanted.includes("/") ? wanted.split(/\/(.*)/s) : [null, wanted];
  if (inner.startsWith("test-")) buildTests();
  if (slug === null) {
    const element = document.getElementById(inner);
    if (element?.getAttribute("role") === "tab") show(element);
    else if (element) {
      dialog.close();
      reveal(element);
    }
    return;
  }
  const run = runs.get(slug);
  if (!run) return;
  const number = testIds.indexOf(inner);
  const id = number < 0 ? inner : data.asks[number].find((each) => run.requirements[each]);
  if (!id || !run.requirements[id]) return;
  const link = find(`a[href="#${CSS.escape(slug)}/${CSS.escape(inner)}"]`);
  if (link?.closest("[hidden]")) reveal(link.closest("tr"));
  open(run, id, number);
}

window.addEventListener("hashchange", follow);
// Opening the same cell again does not change the fragment, so no event follows.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href^='#']");
  if (link && link.getAttribute("href") === location.hash) follow();
});
for (const button of all(".inside .copy")) {
  button.onclick = () => copy(button, find("code", button.parentElement).textContent);
}
const details = all(".configurations details");
let closed = [];
window.addEventListener("beforeprint", () => {
  closed = details.filter((each) => !each.open);
  for (const each of closed) each.open = true;
});
window.addEventListener("afterprint", () => {
  for (const each of closed) each.open = false;
});
recallFilters();
filter();
follow();
document.documentElement.dataset.ready = "";
