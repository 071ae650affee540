"use strict";
// Shows the data of the page; what it means is computed by xlate. A line of any panel is linked to
// others by the lines of the script that it comes from, its keys: "FILE:LINE".
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const mouse = { x: -1, y: -1 };
  const KINDS = { applied: "did", missed: "could not", analysis: "found", detail: "tidied" };
  const LOCKS = {
    none: "no lock", read: "read lock", write: "write lock", own: "its CPU's lock",
    all: "all CPUs' locks",
  };
  const state = { unit: 0, step: data.steps.length - 1, file: 0, kept: [], hover: null };

  /** An element with attributes and children; texts are never read as HTML. */
  function make(tag, attributes = {}, ...children) {
    const svg = ["svg", "g", "rect", "text", "tspan", "path", "marker", "defs", "title"].includes(tag);
    const element = svg
      ? document.createElementNS("http://www.w3.org/2000/svg", tag)
      : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === false || value === null || value === undefined) continue;
      if (name === "onclick") element.addEventListener("click", value);
      else element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children);
    return element;
  }

  /** A message whose names in backticks are code. */
  const message = (text) =>
    text.split("`").map((part, n) => (n % 2 ? make("code", {}, part) : part));

  const keyOf = (pos) => (pos < 0 ? null : `${data.positions[pos][0]}:${data.positions[pos][1]}`);
  const keysOf = (positions) => [...new Set(positions.map(keyOf).filter((key) => key !== null))];
  const unit = () => data.units[state.unit];
  const baseName = (name) => name.replace(/^.*\//, "");

  /** What something looks like after a step: its newest version so far. */
  const versionAt = (versions, step) => versions.findLast((version) => version.step <= step);

  /** Whether a version is another text, not only the same from other places. */
  const isChange = (version) =>
    version.step === 0 || version.gone || version.added + version.removed > 0;

  // Panels of lines.

  /** A panel that lists lines and keeps one of them active for the keyboard. */
  class Panel {
    constructor(id) {
      this.box = $(id);
      this.id = id;
      this.lines = [];
      this.active = -1;
      this.box.addEventListener("mouseover", (event) => this.over(event));
      this.box.addEventListener("mouseleave", () => this.hover(null));
      this.box.addEventListener("click", (event) => this.click(event));
      this.box.addEventListener("keydown", (event) => this.key(event));
    }

    /** Shows lines: { text, number, keys, mark, after }. */
    show(lines) {
      this.lines = lines;
      this.active = -1;
      this.box.removeAttribute("aria-activedescendant");
      const rows = make("div", { class: "rows", role: "presentation" });
      lines.forEach((line, n) => {
        const kind = { "+": " add", "-": " del" }[line.mark] ?? "";
        const said = { "+": "added: ", "-": "removed: " }[line.mark] ?? "";
        line.row = make(
          "div",
          {
            class: `line${kind}${line.keys.length ? " linked" : ""}`,
            role: "option", id: `${this.id}-${n}`, "aria-selected": "false",
            "aria-label": `${said}${line.text.trim() || "empty line"}`,
          },
          make("span", { class: "no", "aria-hidden": "true" }, String(line.number ?? "")),
          this.id !== "script" ? make("span", { class: "mark", "aria-hidden": "true" }, line.mark) : "",
          make("span", { class: "text" }, line.text),
        );
        rows.append(line.row, ...(line.after ?? []));
      });
      this.box.replaceChildren(rows);
    }

    lineOf(target) {
      const row = target?.closest?.(".line");
      return row ? this.lines.findIndex((line) => line.row === row) : -1;
    }

    over(event) {
      // What scrolls by under a mouse that rests is not pointed at.
      if (event.screenX === mouse.x && event.screenY === mouse.y) return;
      Object.assign(mouse, { x: event.screenX, y: event.screenY });
      this.hover(event.target);
    }

    hover(target) {
      const n = this.lineOf(target);
      state.hover = n < 0 ? null : this.lines[n].keys;
      paint();
    }

    click(event) {
      const n = this.lineOf(event.target);
      if (n >= 0) this.choose(n);
    }

    /** Makes a line the active one and keeps what it is linked to. */
    choose(n) {
      for (const panel of panels) panel.lines[panel.active]?.row.classList.remove("active");
      this.active = n;
      const line = this.lines[n];
      line.row.classList.add("active");
      this.box.setAttribute("aria-activedescendant", line.row.id);
      this.reveal(line.row);
      // The mouse may still rest on another line.
      state.hover = null;
      keep(line.keys, this);
    }

    key(event) {
      const last = this.lines.length - 1;
      const moves = {
        ArrowDown: Math.min(this.active + 1, last), ArrowUp: Math.max(this.active - 1, 0),
        Home: 0, End: last, Enter: this.active, " ": this.active,
      };
      const to = moves[event.key];
      if (to === undefined || last < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      if (to >= 0) this.choose(to);
    }

    /** Highlights the lines with one of the keys. */
    paint(keys) {
      for (const line of this.lines) {
        const hot = line.keys.some((key) => keys.includes(key));
        line.row.classList.toggle("hot", hot);
        line.row.setAttribute("aria-selected", String(hot));
      }
    }

    /** Scrolls to the first of the lines with one of the keys. */
    scrollTo(keys) {
      const line = this.lines.find((line) => line.keys.some((key) => keys.includes(key)));
      if (line) this.reveal(line.row);
    }

    /** Scrolls this panel, and only it, so that a row can be seen. */
    reveal(row) {
      const [top, bottom] = [row.offsetTop, row.offsetTop + row.offsetHeight];
      if (top < this.box.scrollTop || bottom > this.box.scrollTop + this.box.clientHeight) {
        this.box.scrollTop = top - this.box.clientHeight / 3;
      }
    }
  }

  const script = new Panel("script");
  const ir = new Panel("ir");
  const c = new Panel("c");
  const panels = [script, ir, c];

  function paint() {
    const keys = state.hover ?? state.kept;
    for (const panel of panels) panel.paint(keys);
    for (const node of document.querySelectorAll(".block")) {
      const own = node.dataset.keys ? node.dataset.keys.split(" ") : [];
      node.classList.toggle("hot", own.some((key) => keys.includes(key)));
    }
  }

  /** Keeps lines highlighted, and shows them in the panels other than the one they are picked in. */
  function keep(keys, from) {
    state.kept = keys;
    const file = keys.length ? Number(keys[0].split(":")[0]) : state.file;
    if (from !== script && file !== state.file) showFile(file);
    for (const panel of panels) if (panel !== from) panel.scrollTo(keys);
    paint();
    remember();
  }

  function showFile(file) {
    state.file = file;
    $("file").value = String(file);
    const remarks = new Map();
    for (const remark of data.remarks) {
      const key = keyOf(remark.pos);
      if (key !== null && remark.kind !== "detail") remarks.set(key, [...(remarks.get(key) ?? []), remark]);
    }
    const text = data.files[file]?.text ?? "";
    script.show(
      text.replace(/\n$/, "").split("\n").map((text, n) => {
        const key = `${file}:${n + 1}`;
        const after = (remarks.get(key) ?? []).map((remark) =>
          make("div", { class: `remark ${remark.kind}`, role: "presentation" },
            make("span", {}, ...message(remark.message), ` (${remark.pass})`)));
        return { text, number: n + 1, keys: [key], mark: "", after };
      }),
    );
    paint();
  }

  /** What a version of some lines shows in the step at hand: differences only where it is new. */
  function rowsOf(version, lines) {
    if (!version) return [];
    let number = 0;
    const rows = version.rows.map((row) => {
      const [text, positions] = lines[Math.floor(row / 3)];
      const mark = [" ", "+", "-"][row % 3];
      if (mark !== "-") number += 1;
      return { text, number: mark === "-" ? "" : number, keys: keysOf([positions].flat()), mark };
    });
    if (version.step === state.step) return rows;
    return rows.filter((row) => row.mark !== "-").map((row) => ({ ...row, mark: " " }));
  }

  /** How a version differs from the one before. */
  function noteOf(version) {
    const isNow = version?.step === state.step;
    if (!version || (version.gone && !isNow)) return "it is gone";
    if (version.gone) return "dropped in this step";
    if (state.step === 0) return "";
    return isNow && isChange(version)
      ? `${version.added} added, ${version.removed} removed`
      : "not changed in this step";
  }

  const irRows = () => rowsOf(versionAt(unit().versions, state.step), data.lines)
    .map((row) => ({ ...row, number: "" }));

  function showIr() {
    ir.show(irRows());
    $("ir-note").textContent = noteOf(versionAt(unit().versions, state.step));
  }

  function showC() {
    const version = versionAt(data.c, state.step);
    c.show(rowsOf(version, data.c_lines));
    $("c-note").textContent = noteOf(version);
  }

  // Steps.

  function showSteps() {
    const versions = new Map(
      unit().versions.filter(isChange).map((version) => [version.step, version]));
    const items = data.steps.map((step, n) => {
      const version = versions.get(n);
      const changes = n > 0 && version
        ? [make("span", { class: "plus" }, `+${version.added}`),
           make("span", { class: "minus" }, `−${version.removed}`)]
        : [];
      const button = make("button", {
        type: "button", title: step.description, "aria-current": n === state.step && "step",
        class: version ? "changes" : "", onclick: () => goTo(n),
      }, make("span", { class: "name" }, step.pass || "lowered"), ...changes);
      return make("li", {}, button);
    });
    $("steps").replaceChildren(...items);
    const current = items[state.step];
    const list = $("steps").parentElement;
    if (current && (current.offsetTop < list.scrollTop
        || current.offsetTop + 24 > list.scrollTop + list.clientHeight)) {
      list.scrollTop = current.offsetTop - list.clientHeight / 2;
    }
    const step = data.steps[state.step];
    $("step").replaceChildren(
      make("b", {}, step.pass || "lowered"), ` (${state.step} of ${data.steps.length - 1})`);
    $("step").title = step.description;
    $("previous").disabled = stepFrom(-1) === null;
    $("next").disabled = stepFrom(1) === null;
  }

  /** The step before or after this one, of those that are to be shown; null if there is none. */
  function stepFrom(direction) {
    const all = $("mine").checked
      ? unit().versions.filter(isChange).map((version) => version.step)
      : data.steps.map((_, n) => n);
    const rest = all.filter((step) => (step - state.step) * direction > 0);
    return rest.length === 0 ? null : direction > 0 ? rest[0] : rest[rest.length - 1];
  }

  function goTo(step) {
    if (step === null) return;
    state.step = step;
    showSteps();
    showIr();
    showC();
    showFlow();
    ir.scrollTo(state.kept);
    c.scrollTo(state.kept.length ? state.kept : keysOf([unit().pos]));
    paint();
    remember();
  }

  // Control flow.

  function showFlow() {
    const version = versionAt(unit().versions, state.step);
    const flow = version && !version.gone && version.flow;
    if (!flow) {
      $("flow").replaceChildren(
        make("p", { class: "empty" }, "There is no control flow to draw here."));
      return;
    }
    const rows = irRows().filter((row) => row.mark !== "-");
    const name = unit().name;
    const svg = make("svg", {
      width: flow.width, height: flow.height, viewBox: `0 0 ${flow.width} ${flow.height}`,
      role: "group", "aria-label": `Control flow of ${name}: ${flow.nodes.length} blocks`,
    }, make("defs", {}, make("marker", {
      id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7,
      orient: "auto-start-reverse",
    }, make("path", { d: "M0 0 L8 4 L0 8 z" }))));
    for (const edge of flow.edges) {
      svg.append(make("path", {
        class: `edge ${edge.way}`, d: curve(edge), "marker-end": "url(#arrow)",
      }));
      if (edge.way) {
        const [x, y] = edge.path[0];
        const side = edge.way === "true" || edge.way === "normal" ? -1 : 1;
        svg.append(make("text", {
          class: "way", x: x + side * 5, y: y + 13, "text-anchor": side < 0 ? "end" : "start",
        }, edge.way));
      }
    }
    for (const node of flow.nodes) svg.append(block(node, rows));
    $("flow").replaceChildren(svg);
  }

  function block(node, rows) {
    const own = rows.slice(node.row, node.row + node.count);
    const short = (text) =>
      text.length > data.node_columns ? `${text.slice(0, data.node_columns - 1)}…` : text;
    const lines = own.slice(0, node.shown).map((row) => short(row.text.trim()));
    if (node.count > node.shown) lines.push(`… ${node.count - node.shown} more`);
    const keys = [...new Set(own.flatMap((row) => row.keys))];
    const show = () => {
      const at = ir.lines.findIndex((line) => line.mark !== "-" && line.text === own[0].text);
      if (at >= 0) ir.reveal(ir.lines[at].row);
      keep(keys, ir);
    };
    const group = make("g", {
      class: "block", tabindex: 0, role: "button", transform: `translate(${node.x} ${node.y})`,
      "aria-label": `Block ${node.name}, ${node.count - 2} instructions`,
      "data-keys": keys.join(" "), onclick: show,
    }, make("rect", { width: node.w, height: node.h, rx: 6 }));
    lines.forEach((text, n) => {
      const kind = n === 0 ? "head" : n === node.shown ? "more" : "";
      group.append(make("text", { class: kind, x: 10, y: 17 + 15 * n }, text));
    });
    group.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      show();
    });
    return group;
  }

  /** A smooth path through the points of an edge, vertical where it meets a block. */
  function curve(edge) {
    const [first, ...rest] = edge.path;
    let path = `M${first[0]} ${first[1]}`;
    if (edge.back) {
      const [a, b, end] = rest;
      return `${path} C${first[0]} ${a[1] + 8} ${a[0]} ${a[1] + 8} ${a[0]} ${a[1] - 8}`
        + ` L${b[0]} ${b[1] + 8} C${b[0]} ${b[1] - 10} ${end[0]} ${b[1] - 10} ${end[0]} ${end[1]}`;
    }
    let [x, y] = first;
    for (const [toX, toY] of rest) {
      const middle = (y + toY) / 2;
      path += ` C${x} ${middle} ${toX} ${middle} ${toX} ${toY}`;
      [x, y] = [toX, toY];
    }
    return path;
  }

  // The lock plan and the remarks.

  function showPlan() {
    const { handlers, globals } = data.plan;
    if (globals.length === 0) {
      $("plan").replaceChildren(make("p", { class: "empty" }, "No global is left."));
      return;
    }
    const head = make("tr", {}, make("th", { scope: "col" }, "Global"),
      make("th", { scope: "col" }, "Discipline"),
      ...handlers.map((handler) => make("th", { scope: "col" },
        handler.unit === null ? handler.name : make("button", {
          type: "button", class: "place", onclick: () => pick(handler.unit),
        }, handler.name),
        handler.alone ? make("small", {}, "runs alone") : "")));
    const body = globals.map((global) => make("tr", {},
      make("th", { scope: "row" }, place(global.pos, global.name), make("small", {}, global.holds)),
      make("td", {}, make("span", { class: "discipline" }, global.discipline),
        global.shares ? make("small", {}, `lock of ${global.shares}`) : ""),
      ...global.cells.map((cell) => planCell(cell))));
    $("plan").replaceChildren(make("table", {},
      make("caption", { hidden: true }, "What each handler does to each global"),
      make("thead", {}, head), make("tbody", {}, ...body)));
  }

  function planCell(cell) {
    const does = [cell.reads && "reads", cell.writes && "writes"].filter(Boolean).join(", ");
    if (!does) return make("td", {}, make("span", { "aria-label": "does not use it" }, "–"));
    const lock = LOCKS[cell.lock ?? "none"];
    return make("td", {}, does, make("small", { class: `lock-${cell.lock ?? "none"}` }, lock));
  }

  /** A button that shows a position in the script. */
  function place(pos, text) {
    if (pos < 0) return make("span", {}, text);
    const show = () => {
      const key = keyOf(pos);
      showFile(data.positions[pos][0]);
      keep([key], null);
    };
    return make("button", { type: "button", class: "place", onclick: show }, text);
  }

  function placeName(pos) {
    if (pos < 0) return "";
    const [file, line, column] = data.positions[pos];
    return `${baseName(data.files[file].name)}:${line}:${column}`;
  }

  function showRemarks() {
    const list = make("ul", {});
    const boxes = Object.entries(KINDS).map(([kind, word]) => {
      // Details are many.
      const checked = kind !== "detail";
      const box = make("input", { type: "checkbox", checked, "data-kind": kind });
      box.addEventListener("change", fill);
      return make("label", {}, box, ` ${word}`);
    });
    function fill() {
      const shown = boxes.map((label) => label.firstChild)
        .filter((box) => box.checked).map((box) => box.dataset.kind);
      list.replaceChildren(...data.remarks.filter((remark) => shown.includes(remark.kind))
        .map((remark) => make("li", {},
          make("span", { class: `kind ${remark.kind}` }, KINDS[remark.kind]),
          make("code", {}, remark.pass), ": ", ...message(remark.message), " ",
          place(remark.pos, placeName(remark.pos)),
          ...remark.related.flatMap(([pos, what]) => [`; ${what}: `, place(pos, placeName(pos))]))));
    }
    fill();
    $("remarks").replaceChildren(
      make("div", { class: "filters", role: "group", "aria-label": "Kinds of remarks" }, ...boxes),
      data.remarks.length ? list : make("p", { class: "empty" }, "The passes had nothing to say."));
  }

  // What is picked.

  function pick(which) {
    state.unit = which;
    $("unit").value = String(which);
    showSteps();
    showIr();
    showC();
    showFlow();
    const pos = unit().pos;
    const keys = keysOf([pos]);
    if (pos >= 0 && data.positions[pos][0] !== state.file) showFile(data.positions[pos][0]);
    state.kept = [];
    script.scrollTo(keys);
    c.scrollTo(keys);
    paint();
    remember();
  }

  /** Has the address name what is shown, so that it can be passed on. */
  function remember() {
    const line = state.kept.length ? `&line=${state.kept[0]}` : "";
    history.replaceState(null, "", `#handler=${state.unit}&step=${state.step}${line}`);
  }

  function recall() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    const number = (name, least, most, other) => {
      const value = wanted.has(name) ? Number(wanted.get(name)) : NaN;
      return Number.isInteger(value) && value >= least && value <= most ? value : other;
    };
    state.step = number("step", 0, data.steps.length - 1, data.steps.length - 1);
    const line = wanted.get("line");
    pick(number("handler", 0, data.units.length - 1, 0));
    if (/^\d+:\d+$/.test(line ?? "")) keep([line], null);
  }

  function chooseTab(tab) {
    for (const other of document.querySelectorAll("[role=tab]")) {
      const isChosen = other === tab;
      other.setAttribute("aria-selected", String(isChosen));
      other.tabIndex = isChosen ? 0 : -1;
      $(other.getAttribute("aria-controls")).hidden = !isChosen;
    }
  }

  const THEMES = ["system", "light", "dark"];
  function turnTheme() {
    const now = document.documentElement.dataset.theme ?? "system";
    const next = THEMES[(THEMES.indexOf(now) + 1) % THEMES.length];
    if (next === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
    $("theme").textContent = `Theme: ${next}`;
  }

  function listen() {
    $("unit").addEventListener("change", () => pick(Number($("unit").value)));
    $("file").addEventListener("change", () => showFile(Number($("file").value)));
    $("mine").addEventListener("change", showSteps);
    $("previous").addEventListener("click", () => goTo(stepFrom(-1)));
    $("next").addEventListener("click", () => goTo(stepFrom(1)));
    $("theme").addEventListener("click", turnTheme);
    const tabs = [...document.querySelectorAll("[role=tab]")];
    for (const tab of tabs) tab.addEventListener("click", () => chooseTab(tab));
    addEventListener("hashchange", recall);
    addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      const at = event.target;
      const arrow = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (event.key === "Escape") {
        state.kept = [];
        state.hover = null;
        paint();
        remember();
      } else if (arrow && tabs.includes(at)) {
        const next = tabs[(tabs.indexOf(at) + arrow + tabs.length) % tabs.length];
        chooseTab(next);
        next.focus();
      } else if (arrow && !["SELECT", "INPUT"].includes(at.tagName)) {
        event.preventDefault();
        goTo(stepFrom(arrow));
      }
    });
  }

  $("title").textContent = data.title;
  $("unit").append(...["handler", "function", "tables"].flatMap((kind) => {
    const own = data.units.map((unit, n) => [unit, n]).filter(([unit]) => unit.kind === kind);
    if (own.length === 0) return [];
    const label = { handler: "Handlers", function: "Functions", tables: "Module" }[kind];
    return [make("optgroup", { label },
      ...own.map(([unit, n]) => make("option", { value: n }, unit.name)))];
  }));
  $("file").append(...data.files.map((file, n) => make("option", { value: n }, file.name)));
  showFile(0);
  showPlan();
  showRemarks();
  listen();
  recall();
})();
