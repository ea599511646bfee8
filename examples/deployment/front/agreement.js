// @ts-check
/** What this front agrees to; it ships with the app, so that a service cannot change it. As device.py's `Agreement`. */
export const AGREEMENT = {
  question: "income",
  tables: ["t33645b8b5c0e", "t70fda13cf1af"],
  promise: "pure",
  largestEpsilon: 1,
};
