// @ts-check
/** Sets of pairs of a key and a number, as optldp-bundles.js draws from them (docs/bundle-format.md). */

import {
  asWhole, checkedNumerators, checkedProvenance, checkedEpsilon, DENOMINATOR, drawOutput, lastAtMost, placeValue,
  RandomWords, refuse, requireModest, WHOLE,
} from "./optldp-client.js";
import { asCount, asShare, proveRatio, requireDenominator } from "./oracles.js";

/** @import { JsonObject, ReadTable } from "./optldp-client.js" */
/** @import { Placed } from "./optldp-bundles.js" */

/** @typedef {{ code: number, value: number }} Pair */
/** @typedef {[bigint, bigint]} Ratio A numerator and a denominator above 0. */

export const PAIR_KEYS = ["keys", "epsilon", "provenance", "value", "padding", "denominator", "fake", "own", "other"];
const MOST_PADDING = 2n ** 20n;
const MOST_OUTPUTS = 2 ** 15 - 2;

/**
 * Reads a bundle of kind key-value-unary (`apart`) or key-value-response; what it needs to know of others is given.
 * @type {(members: JsonObject, apart: boolean, labels: string[], value: ReadTable) => Placed<Pair[]>}
 */
export function readPairs(members, apart, labels, { facts: table, law }) {
  requireDenominator(members.denominator);
  checkedProvenance(members.provenance);
  const [epsilon, m] = [checkedEpsilon(members.epsilon), table.low.length];
  if (m > MOST_OUTPUTS) refuse(`the value table must have at most ${MOST_OUTPUTS} outputs, got ${m}`);
  requireModest("keys times outputs", labels.length * m);
  const padding = asCount("padding", members.padding, 0n, MOST_PADDING);
  const [fake] = checkedNumerators(members.fake, 1, m);
  const [own, other] = [members.own, members.other].map(asShare);
  if (!(other < own)) refuse(`other must be below own, got ${other} and ${own}`);
  const places = labels.length + padding;
  if (!apart && own + BigInt(places - 1) * other !== WHOLE) refuse("own must leave equal shares of 2^53 to the others");
  provePairs(ratiosOf(table, fake, own, other), apart, padding, own, other, epsilon);
  let sum = 0;
  const fakes = fake.map((entry) => (sum += entry) - entry);
  const [a, b, codes] = [Number(own), Number(other), new Map(labels.map((label, code) => [label, code]))];
  /** @type {(words: RandomWords) => number} */
  const fakeOutput = (words) => lastAtMost(m, (j) => fakes[j], words.take(53));
  const possible = table.largest.map((most, j) => Number(most > 0 || fake[j] > 0)).join("");
  return {
    epsilons: [epsilon],
    columns: ["report"],
    places: labels.length * (1 + m),
    nature: JSON.stringify([apart, labels, padding, table.units, m, table.knots, possible]),
    place(given) {
      const listed = Array.isArray(given) && given.every((pair) => Array.isArray(pair) && pair.length === 2);
      if (!listed) throw new TypeError("pairs must be a list of lists of a key and a number, got something else");
      const held = given.map(([key, value]) => {
        const code = codes.get(key);
        if (code === undefined) throw new RangeError(`a key must be one of the ${labels.length} keys, got another`);
        placeValue(law, value); // raises for a value outside the domain
        return { code, value };
      });
      const differ = new Set(held.map(({ code }) => code)).size === held.length;
      if (!differ) throw new RangeError("a user must hold a key once at most, got one twice");
      if (held.length === 0 && padding === 0) throw new RangeError("every user must hold a pair, as padding is 0");
      return held;
    },
    draw(held, words) {
      const number = words.take(53) % Math.max(held.length, padding, 1);
      const pair = number < held.length ? held[number] : { code: labels.length + number, value: table.knots[0] };
      const output = drawOutput(law, pair.value, words);
      if (apart) {
        const parts = labels.map((_, k) => {
          const shown = words.take(53) < (k === pair.code ? a : b);
          const falsely = fakeOutput(words);
          return shown ? `${k}:${k === pair.code ? output : falsely}` : "";
        });
        return [parts.filter((part) => part !== "").join(";") || "-"];
      }
      const over = words.take(53) - a;
      const step = over < 0 ? 0 : 1 + (over - (over % b)) / b;
      const falsely = fakeOutput(words);
      const truly = step === 0 && pair.code < labels.length;
      return [`${(pair.code + step) % places}:${truly ? output : falsely}`];
    },
  };
}

/** The largest and the least of own M / (other D) for every output that can be shown.
 * @type {(table: { smallest: readonly number[], largest: readonly number[] }, fake: Float64Array, own: bigint,
 * other: bigint) => [Ratio, Ratio][]} */
function ratiosOf({ smallest, largest }, fake, own, other) {
  const shown = largest.map((most, j) => ({ most, least: smallest[j], fake: fake[j] }));
  return shown.filter((each) => each.most > 0 || each.fake > 0).map((each) => {
    if (each.fake === 0) refuse("an output that the value table has must be among the fake ones, got one that is not");
    const below = other * BigInt(each.fake);
    return [[own * BigInt(each.most), below], [own * BigInt(each.least), below]];
  });
}

/** @type {(ratios: [Ratio, Ratio][], apart: boolean, padding: number, own: bigint, other: bigint, epsilon: number)
 * => void} */
function provePairs(ratios, apart, padding, own, other, epsilon) {
  /** @type {(x: Ratio, y: Ratio) => Ratio} */
  const larger = (x, y) => (x[0] * y[1] >= y[0] * x[1] ? x : y);
  /** @type {(x: Ratio, y: Ratio) => Ratio} */
  const smaller = (x, y) => (x[0] * y[1] <= y[0] * x[1] ? x : y);
  /** @type {(x: Ratio, y: Ratio) => void} */
  const prove = (x, y) => proveRatio(x[0] * y[1], x[1] * y[0], epsilon);
  if (apart) {
    const most = ratios.map(([high]) => high).reduce(larger);
    const least = ratios.map(([, low]) => low).reduce(smaller, [WHOLE - own, WHOLE - other]);
    return prove(most, least);
  }
  const held = BigInt(Math.max(padding, 1));
  const share = (WHOLE + held - 1n) / held; // of 2^53: how likely a pair is sampled at most
  /** @type {Ratio} */
  const one = [1n, 1n];
  for (const [high, low] of ratios) {
    /** @type {Ratio[]} */
    const [most, least] = [high, low].map(([p, q]) => [WHOLE * q + share * (p - q), WHOLE * q]);
    prove(larger(one, most), smaller(one, least));
  }
}
