// @ts-check
/**
 * Mechanisms for categories, as optldp-bundles.js draws from them (docs/bundle-format.md): an oracle is one entry of
 * `ORACLES`, which reads the members that are its own, proves its largest ratio and draws by whole numbers.
 */

import {
  asList, asWhole, checkedNumerators, DENOMINATOR, exponentialBelow, lastAtMost, provePrivate, RandomWords, refuse,
  requireModest, SCALE, shown, WHOLE,
} from "./optldp-client.js";

/** @import { Json, JsonObject } from "./optldp-client.js" */

/**
 * @typedef {object} Oracle
 * @property {string} reports What reports must have in common where several levels make them.
 * @property {number} many How many reports there are; infinity stands for more than anybody lists.
 * @property {(code: number, words: RandomWords) => number | boolean[]} draw A number, or a bit for each category.
 */

/**
 * @typedef {object} OracleKind
 * @property {string[]} keys The members that it has beside those of every mechanism for categories.
 * @property {(members: JsonObject, size: number, epsilon: number) => Oracle} read
 */

const MOST_CHOSEN = 2 ** 19; // categories of a set, each of which takes a word

/** @type {Record<string, OracleKind>} */
export const ORACLES = {
  "categorical-table": {
    keys: ["denominator", "numerators"],
    read(members, size, epsilon) {
      requireDenominator(members.denominator);
      const many = asList("row 0 of numerators", asList("numerators", members.numerators)[0] ?? []).length;
      const rows = checkedNumerators(members.numerators, size, many);
      provePrivate(rows, epsilon);
      return tableOracle(rows);
    },
  },
  "unary-encoding": {
    keys: ["own_one", "other_one"],
    read(members, size, epsilon) {
      const [own, other] = [members.own_one, members.other_one].map(asShare);
      if (!(other < own)) refuse(`other_one must be below own_one, got ${other} and ${own}`);
      proveRatio(own * (WHOLE - other), other * (WHOLE - own), epsilon);
      const [p, q] = [Number(own), Number(other)];
      return {
        reports: "",
        many: 2 ** size,
        draw: (code, words) => Array.from({ length: size }, (_, k) => words.take(53) < (k === code ? p : q)),
      };
    },
  },
  "subset-selection": {
    keys: ["n_chosen", "own_chosen"],
    read(members, size, epsilon) {
      const [many, own] = [asCount("n_chosen", members.n_chosen, 1n, BigInt(size - 1)), asShare(members.own_chosen)];
      requireModest("n_chosen", many, MOST_CHOSEN);
      const oftener = BigInt(many) * WHOLE < own * BigInt(size);
      if (!oftener) refuse(`own_chosen must be more than ${many}/${size} of 2^53, got ${own}`);
      proveRatio(own * BigInt(size - many), (WHOLE - own) * BigInt(many), epsilon);
      const mine = Number(own);
      return {
        reports: String(many),
        many: setsOf(size, many),
        draw(code, words) {
          const held = words.take(53) < mine;
          const others = randomChoices(size - 1, many, words); // counted on from the one after the own
          others[many - 1] = held ? size - 1 : others[many - 1];
          const bits = Array.from({ length: size }, () => false);
          for (const other of others) bits[(code + 1 + other) % size] = true;
          return bits;
        },
      };
    },
  },
  "local-hashing": {
    keys: ["n_values", "own_value"],
    read(members, size, epsilon) {
      const [g, own] = [asCount("n_values", members.n_values, 2n, 256n), asShare(members.own_value)];
      const field = fieldOf("n_values", g);
      const other = (WHOLE - own) / BigInt(g - 1);
      const fits = other * BigInt(g - 1) + own === WHOLE && other < own;
      if (!fits) refuse(`own_value must leave ${g - 1} smaller equal shares of 2^53, got ${own}`);
      proveRatio(own, other, epsilon);
      let digits = 1;
      while (g ** digits < size) digits++;
      const seeds = pointsOf(g, digits);
      const [mine, share] = [Number(own), Number(other)];
      return {
        reports: String(g),
        many: seeds * g,
        draw(code, words) {
          const seed = Number(words.word() % BigInt(seeds));
          const over = words.take(53) - mine;
          const step = over < 0 ? 0 : 1 + (over - (over % share)) / share;
          return seed * g + ((hashOf(field, g, digits, seed, code) + step) % g);
        },
      };
    },
  },
  "projective-geometry": {
    keys: ["order", "own_supported"],
    read(members, size, epsilon) {
      const [q, own] = [asCount("order", members.order, 2n, 256n), asShare(members.own_supported)];
      const field = fieldOf("order", q);
      let length = 2;
      while (pointsOf(q, length) < size) length++;
      const [n, m] = [length, length - 1].map((each) => pointsOf(q, each));
      if (!(own * BigInt(n) > WHOLE * BigInt(m))) refuse(`own_supported must be more than ${m}/${n} of 2^53, got ${own}`);
      proveRatio(own * BigInt(n - m), (WHOLE - own) * BigInt(m), epsilon);
      const mine = Number(own);
      return {
        reports: String(q),
        many: n,
        draw(code, words) {
          const supported = words.take(53) < mine;
          const [on, off] = [uniformBelow(m, words), uniformBelow(n - m, words)];
          const every = Array.from({ length: length - 1 }, (_, i) => Math.floor(off / q ** (length - 2 - i)) % q);
          const [vector, category] = [supported ? pointOf(q, length - 1, on) : every, pointOf(q, length, code)];
          const first = category.indexOf(1);
          vector.splice(first, 0, 0);
          const wanted = supported ? 0 : 1;
          vector[first] = solve(q, (entry) => field.add(inner(field, category, vector), entry) === wanted);
          return numberOfPoint(field, q, vector);
        },
      };
    },
  },
};

/** `chosen` of `many`, all different, all orders alike: the first steps of a Fisher-Yates shuffle.
 * @type {(many: number, chosen: number, words: RandomWords) => number[]} */
export function randomChoices(many, chosen, words) {
  const order = Array.from({ length: many }, (_, i) => i);
  for (let i = 0; i < chosen; i++) {
    const other = i + uniformBelow(many - i, words);
    [order[i], order[other]] = [order[other], order[i]];
  }
  return order.slice(0, chosen);
}

/** Words that would favour some numbers are drawn again. @type {(bound: number, words: RandomWords) => number} */
export function uniformBelow(bound, words) {
  const [all, size] = [2n ** 64n, BigInt(bound)];
  let word = words.word();
  while (word >= all - (all % size)) word = words.word();
  return Number(word % size);
}

/** A report as the text that a file holds. @type {(report: number | boolean[]) => string} */
export function textOf(report) {
  if (typeof report === "number") return String(report);
  const bytes = new Uint8Array(Math.ceil(report.length / 8));
  report.forEach((one, k) => (bytes[k >> 3] |= Number(one) << (7 - (k & 7))));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * A report's place among all of them: of bits as binary digits, of sets of one size in lexicographic order.
 * @type {(oracle: Oracle, report: number | boolean[]) => number}
 */
export function numberOf(oracle, report) {
  if (typeof report === "number") return report;
  const [size, ones] = [report.length, report.filter(Boolean).length];
  if (oracle.many === 2 ** size) return report.reduce((sum, one) => 2 * sum + Number(one), 0);
  let [place, left] = [0, ones];
  report.forEach((one, k) => {
    if (one) left--;
    else if (left > 0) place += setsOf(size - k - 1, left - 1); // those that hold k instead come before
  });
  return place;
}

/** How many sets of so many there are. @type {(size: number, many: number) => number} */
function setsOf(size, many) {
  let sets = 1;
  for (let i = 1; i <= many; i++) sets = (sets * (size - many + i)) / i;
  return sets;
}

/** Randomised response among so many, which reports of levels are. @type {(size: number, epsilon: number) => Oracle} */
export function randomisedResponse(size, epsilon) {
  const divisor = exponentialBelow(epsilon) + BigInt(size - 1) * SCALE;
  const other = (WHOLE * SCALE + divisor - 1n) / divisor; // rounded up
  const own = WHOLE - BigInt(size - 1) * other;
  proveRatio(own, other, epsilon);
  const rows = Array.from({ length: size }, (_, i) =>
    Float64Array.from({ length: size }, (_, j) => Number(i === j ? own : other)));
  return tableOracle(rows);
}

/** @type {(rows: Float64Array[]) => Oracle} */
function tableOracle(rows) {
  const before = rows.map((row) => {
    let sum = 0;
    return row.map((entry) => (sum += entry) - entry);
  });
  const many = rows[0].length;
  return {
    reports: String(many),
    many,
    draw: (code, words) => lastAtMost(many, (j) => before[code][j], words.take(53)),
  };
}

/** Proves p / q at most e^epsilon. @type {(p: bigint, q: bigint, epsilon: number) => void} */
export function proveRatio(p, q, epsilon) {
  const fits = q > 0n && p * SCALE <= exponentialBelow(epsilon) * q;
  if (!fits) refuse(`every ratio must be proved at most e^${epsilon}, got ${Number((p * 10n ** 6n) / (q || 1n)) / 1e6}`);
}

/** @type {(value: Json) => void} */
export function requireDenominator(value) {
  if (value !== WHOLE) refuse(`denominator must be ${DENOMINATOR}, got ${shown(value)}`);
}

/** A whole number above 0 and below 2^53. @type {(value: Json) => bigint} */
export const asShare = (value) => asWhole("probabilities", [value], 1n, WHOLE - 1n)[0];

/** @type {(name: string, value: Json, least: bigint, most: bigint) => number} */
export const asCount = (name, value, least, most) => Number(asWhole(name, [value], least, most)[0]);

/** For each power of a prime that is no prime: the coefficients below the highest of its polynomial.
 * @type {Record<number, number[]>} */
const POLYNOMIALS = {
  4: [1, 1], 8: [1, 0, 1], 16: [1, 0, 0, 1], 32: [1, 0, 0, 1, 0], 64: [1, 0, 0, 0, 0, 1], 128: [1, 0, 0, 0, 0, 0, 1],
  256: [1, 0, 0, 0, 1, 1, 0, 1], 9: [1, 0], 27: [1, 0, 2], 81: [1, 0, 1, 1], 243: [1, 0, 0, 0, 2], 25: [1, 1],
  125: [1, 0, 1], 49: [1, 0], 121: [1, 0], 169: [1, 3],
};

/** @typedef {{ add: (a: number, b: number) => number, times: (a: number, b: number) => number }} Field */

/** The field of g elements, numbered as docs/bundle-format.md says. @type {(name: string, g: number) => Field} */
function fieldOf(name, g) {
  let p = 2;
  while (g % p !== 0) p++;
  const tail = POLYNOMIALS[g] ?? [0];
  if (p ** tail.length !== g) refuse(`${name} must be a power of a prime, got ${g}`);
  /** @type {(a: number) => number[]} */
  const digits = (a) => tail.map((_, i) => Math.floor(a / p ** i) % p);
  /** @type {(parts: number[]) => number} */
  const whole = (parts) => parts.reduceRight((sum, part) => sum * p + part, 0);
  /** @type {(a: number, b: number) => number} */
  const add = (a, b) => whole(digits(a).map((digit, i) => (digit + digits(b)[i]) % p));
  /** Times t: digits move up, and what leaves comes back as the polynomial has it. @type {(a: number) => number} */
  const timesT = (a) => {
    const [top, parts] = [digits(a)[tail.length - 1], digits(a)];
    return whole(tail.map((e, i) => ((i > 0 ? parts[i - 1] : 0) + top * (p - e)) % p));
  };
  /** @type {(a: number, b: number) => number} */
  const times = (a, b) => {
    let [sum, power] = [0, a];
    for (const digit of digits(b)) {
      for (let k = 0; k < digit; k++) sum = add(sum, power);
      power = timesT(power);
    }
    return sum;
  };
  if (tail.length === 1) return { add: (a, b) => (a + b) % p, times: (a, b) => (a * b) % p };
  return { add, times };
}

/** The hash of a category under a seed. @type {(field: Field, g: number, d: number, seed: number, code: number) =>
 * number} */
function hashOf(field, g, d, seed, code) {
  const digits = Array.from({ length: d }, (_, i) => Math.floor(code / g ** i) % g);
  return inner(field, pointOf(g, d, seed), digits);
}

/** How many vectors over q elements have a one as the first entry that is not zero. @type {(q: number, length: number) =>
 * number} */
const pointsOf = (q, length) => (q ** length - 1) / (q - 1);

/** The vector of a point's number: zeros, its one, and entries that are free. @type {(q: number, length: number,
 * number: number) => number[]} */
function pointOf(q, length, number) {
  let [free, start] = [0, 0]; // the points before those with so many free entries behind their one
  while (free + 1 < length && start + q ** free <= number) start += q ** free++;
  const rest = number - start;
  return Array.from({ length }, (_, i) => {
    const place = length - 1 - i;
    return place > free ? 0 : place === free ? 1 : Math.floor(rest / q ** place) % q;
  });
}

/** The number of the point on the line of a vector, which is not zero. @type {(field: Field, q: number, vector: number[])
 * => number} */
function numberOfPoint(field, q, vector) {
  const first = vector.findIndex((entry) => entry !== 0);
  const inverse = solve(q, (entry) => field.times(entry, vector[first]) === 1);
  const rest = vector.slice(first + 1);
  return pointsOf(q, rest.length) + rest.reduce((sum, entry) => sum * q + field.times(inverse, entry), 0);
}

/** @type {(field: Field, a: number[], b: number[]) => number} */
const inner = (field, a, b) => a.reduce((sum, entry, i) => field.add(sum, field.times(entry, b[i])), 0);

/** The element for which something holds. @type {(q: number, holds: (entry: number) => boolean) => number} */
const solve = (q, holds) => Array.from({ length: q }, (_, entry) => entry).find(holds) ?? 0;
