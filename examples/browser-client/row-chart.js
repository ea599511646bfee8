// @ts-check
/** The chart of one row: a bar for every output, over the range that all values span there; inline SVG. */

/**
 * @typedef {object} Row
 * @property {string[]} names What each output is called.
 * @property {number[]} own Probability of each output for the value shown.
 * @property {number[]} least Smallest probability of each output over all values.
 * @property {number[]} most Largest probability of each output over all values.
 * @property {number | null} drawn The output that was drawn.
 * @property {number | null} pointed The output that a person points at.
 */

const HEIGHT = 280;
const MARGIN = { top: 16, right: 8, bottom: 30, left: 52 };
const LABEL_ROOM = 96; // pixels for each label of an output
const RARE_SHARE = 0.02; // of the outputs: tails may be so much likelier that nothing else would be seen
const OWN_SHARE = 0.62; // of the range's width, so that the range shows behind

/** @type {(name: string, attributes: Record<string, string | number>, text?: string) => SVGElement} */
function svg(name, attributes, text = "") {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.textContent = text;
  return element;
}

/** Round steps, at most four, that reach `top`. @type {(top: number) => number[]} */
function ticks(top) {
  const power = 10 ** Math.floor(Math.log10(top / 4));
  const step = ([1, 2, 2.5, 5].find((factor) => factor * power * 4 >= top) ?? 10) * power;
  return Array.from({ length: Math.floor(top / step) + 1 }, (_, k) => Number((k * step).toPrecision(6)));
}

/**
 * Where things stand in a chart of `count` outputs that is `width` pixels wide and reaches up to `top`.
 * @typedef {(number: number) => number} Placing
 * @type {(count: number, width: number, top: number) => { middle: Placing, y: Placing, half: number, share: number }}
 */
function geometry(count, width, top) {
  const [inner, height] = [width - MARGIN.left - MARGIN.right, HEIGHT - MARGIN.top - MARGIN.bottom];
  const pitch = inner / count;
  const gap = pitch > 4 ? Math.min(pitch * 0.16, 6) : 0;
  return {
    middle: (j) => MARGIN.left + (j + 0.5) * pitch,
    y: (share) => MARGIN.top + height * (1 - Math.min(share / top, 1)),
    half: Math.max(pitch - gap, 0.75) / 2,
    share: gap > 0 ? OWN_SHARE : 1,
  };
}

/**
 * One path of bars, each a middle, a lower and an upper edge in pixels: thousands of elements would be slow.
 * @type {(bars: [number, number, number][], half: number) => string}
 */
function barsPath(bars, half) {
  const corners = bars.map(([x, low, high]) => [x - half, low, high, x + half].map((pixel) => pixel.toFixed(2)));
  return corners.map(([left, low, high, right]) => `M${left} ${low}V${high}H${right}V${low}Z`).join("");
}

/** How high the chart reaches: to the likeliest output, unless a few tower. @type {(most: number[]) => number} */
function reach(most) {
  const falling = [...most].sort((a, b) => b - a);
  const usual = falling[Math.ceil(RARE_SHARE * most.length)] ?? falling[0];
  return most.length > 20 && falling[0] > 4 * usual && usual > 0 ? 1.5 * usual : falling[0] * 1.04;
}

/**
 * Draws the row into its place, as wide as that is, and says whether some bars are taller than the chart.
 * @type {(place: HTMLElement, row: Row) => boolean}
 */
export function drawRow(place, { names, own, least, most, drawn, pointed }) {
  const width = Math.max(place.clientWidth, 280);
  const top = reach(most);
  const { middle, y, half, share } = geometry(names.length, width, top);
  /** @type {(name: string, outputs: number[], from: number[] | null, to: number[], thin: number) => void} */
  const addBars = (name, outputs, from, to, thin) => {
    /** @type {[number, number, number][]} */
    const bars = outputs.map((j) => [middle(j), y(from?.[j] ?? 0), y(to[j])]);
    picture.append(svg("path", { class: name, d: barsPath(bars, half * thin) }));
  };
  const all = names.map((_, j) => j);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, height: HEIGHT, "aria-hidden": "true" });
  for (const tick of ticks(top)) {
    picture.append(svg("line", { class: "grid", x1: MARGIN.left, x2: width - MARGIN.right, y1: y(tick), y2: y(tick) }));
    picture.append(svg("text", { x: MARGIN.left - 8, y: y(tick) + 4, "text-anchor": "end" }, String(tick)));
  }
  addBars("range", all, least, most, 1);
  addBars("own", all, null, own, share);
  if (drawn !== null) {
    const x = middle(drawn);
    addBars("drawn", [drawn], null, own, share);
    picture.append(svg("path", { class: "drawn", d: `M${x - 6} ${MARGIN.top - 14}h12l-6 10z` }));
  }
  if (pointed !== null) {
    const x = middle(pointed);
    picture.append(svg("line", { class: "pointer", x1: x, x2: x, y1: MARGIN.top, y2: HEIGHT - MARGIN.bottom }));
  }
  const labels = Math.max(2, Math.min(names.length, Math.floor((width - MARGIN.left) / LABEL_ROOM)));
  const shown = new Set(Array.from({ length: labels }, (_, k) => Math.round((k * (names.length - 1)) / (labels - 1))));
  for (const j of shown) {
    const [x, last] = [middle(j), width - MARGIN.right];
    const anchor = x + LABEL_ROOM / 2 > last && names.length > 2 ? "end" : x - LABEL_ROOM / 2 < 0 ? "start" : "middle";
    picture.append(svg("text", { x: anchor === "end" ? last : x, y: HEIGHT - 10, "text-anchor": anchor }, names[j]));
  }
  place.replaceChildren(picture);
  return most.some((probability) => probability > top);
}

/**
 * The output, of `count`, under a pointer at x pixels from the chart's left.
 * @type {(place: HTMLElement, x: number, count: number) => number}
 */
export function outputAt(place, x, count) {
  const inner = Math.max(place.clientWidth, 280) - MARGIN.left - MARGIN.right;
  return Math.max(0, Math.min(count - 1, Math.floor(((x - MARGIN.left) / inner) * count)));
}
