"use strict";
// Points that speak when pointed at, a method brought out in every figure, and a table sorted by its columns.
(() => {
  const REACH = 28; // CSS pixels from a point at which it still speaks: half the width of a finger
  const tip = document.getElementById("tip");
  let lit = null;

  const quiet = () => {
    if (lit) lit.classList.remove("at");
    lit = null;
    tip.hidden = true;
  };

  const speak = (spot, box) => {
    quiet();
    lit = spot;
    spot.classList.add("at");
    tip.textContent = spot.dataset.says;
    tip.hidden = false;
    const width = document.documentElement.clientWidth;
    const left = Math.min(Math.max(4, box.x - tip.offsetWidth / 2), width - tip.offsetWidth - 4);
    const above = box.y - tip.offsetHeight - 14;
    tip.style.transform = `translate(${left}px, ${above > 4 ? above : box.y + 18}px)`;
  };

  const point = (svg) => (event) => {
    const frame = svg.getBoundingClientRect();
    const scale = frame.width / svg.viewBox.baseVal.width;
    let nearest = null;
    for (const spot of svg.querySelectorAll(".spot:not(.faint)")) {
      const x = frame.left + scale * spot.cx.baseVal.value;
      const y = frame.top + scale * spot.cy.baseVal.value;
      const distance = Math.hypot(x - event.clientX, y - event.clientY);
      if (distance <= REACH && (!nearest || distance < nearest.distance)) nearest = { spot, x, y, distance };
    }
    if (nearest) speak(nearest.spot, nearest);
    else quiet();
  };

  for (const svg of document.querySelectorAll("figure > svg")) {
    svg.addEventListener("pointermove", point(svg));
    svg.addEventListener("pointerdown", point(svg));
    svg.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") quiet(); });
  }
  addEventListener("scroll", quiet, { passive: true });
  addEventListener("keydown", (event) => { if (event.key === "Escape") quiet(); });

  const keys = [...document.querySelectorAll(".keys button")];
  const rows = [...document.querySelectorAll(".certificates tbody tr")];
  const chosen = new Set();

  const show = () => {
    const plain = (name) => chosen.size > 0 && !chosen.has(name);
    for (const key of keys) key.setAttribute("aria-pressed", String(chosen.has(key.dataset.series)));
    for (const row of rows) row.classList.toggle("chosen", chosen.has(row.dataset.series));
    for (const name of new Set(keys.map((key) => key.dataset.series))) {
      for (const line of document.querySelectorAll(`figure g[id$="-method-${name}"]`)) {
        line.classList.toggle("faint", plain(name));
      }
      for (const spot of document.querySelectorAll(`.spot[data-series="${name}"]`)) {
        spot.classList.toggle("faint", plain(name));
      }
    }
  };
  const toggle = (name) => {
    if (!chosen.delete(name)) chosen.add(name);
    show();
  };
  for (const key of keys) key.addEventListener("click", () => toggle(key.dataset.series));
  for (const row of rows) row.addEventListener("click", () => toggle(row.dataset.series));

  const keyOf = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.key === undefined ? cell.textContent : Number(cell.dataset.key);
  };
  const order = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1; // what has no number comes last
    return a < b ? -1 : Number(a > b);
  };
  for (const table of document.querySelectorAll(".certificates")) {
    const heads = [...table.querySelectorAll("thead th")];
    const body = table.tBodies[0];
    heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
      const rising = head.getAttribute("aria-sort") !== "ascending";
      for (const other of heads) other.setAttribute("aria-sort", other === head ? (rising ? "ascending" : "descending") : "none");
      body.append(...[...body.rows].sort((a, b) => (rising ? 1 : -1) * order(keyOf(a, column), keyOf(b, column))));
    }));
  }
})();
