// Curves as lists of points: put together from what the server sends, smoothed, averaged.
import { degree } from "./numbers.js";

/** Takes over what is new in curves; null if something is missing and all must be asked for again. */
export function merged(old, news) {
  const series = new Map();
  for (const part of news.series) {
    const known = old?.series.get(part.key);
    if (part.from > 0 && (!known || known.x.length < part.from)) return null;
    const joined = {};
    for (const key of ["x", "y", "low", "high"]) {
      if (part[key]) joined[key] = part.from > 0 ? (known[key] ?? known.y).slice(0, part.from).concat(part[key]) : part[key];
    }
    series.set(part.key, joined);
  }
  const { generation, step, logs, axioms, whole } = news;
  return { generation, step, logs, axioms, whole, last: new Map(news.last), leftOut: new Map(news.left_out),
    rules: new Map(news.rules ?? []), series };
}

/** Truth degrees of logs. The mean of logs becomes a geometric mean; lowest and highest stay what they are. */
export function asDegrees(curve) {
  const of = (values) => values?.map((y) => degree(y, true));
  return { x: curve.x, y: of(curve.y), low: of(curve.low), high: of(curve.high) };
}

/** A running mean that forgets; the first points count as much as they should. */
export function smoothed(curve, keepShare) {
  if (!keepShare) return curve;
  let [sum, weight] = [0, 0];
  const y = curve.y.map((value) => {
    if (value === null) return null;
    sum = keepShare * sum + (1 - keepShare) * value;
    weight = keepShare * weight + (1 - keepShare);
    return sum / weight;
  });
  return { x: curve.x, y };
}

/** The value of a curve at a step between its ends, else null. */
function valueAt(curve, x) {
  const { x: xs, y: ys } = curve;
  if (!xs.length || x < xs[0] || x > xs[xs.length - 1]) return null;
  let [low, high] = [0, xs.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (xs[middle] < x) low = middle + 1; else high = middle;
  }
  if (xs[low] === x || low === 0) return ys[low];
  const share = (x - xs[low - 1]) / (xs[low] - xs[low - 1]);
  return ys[low - 1] + share * (ys[low] - ys[low - 1]);
}

/** The mean of curves, and a band from the lowest to the highest of them, at the steps of the longest. */
export function averaged(curves) {
  const longest = curves.reduce((a, b) => ((b.x[b.x.length - 1] ?? 0) > (a.x[a.x.length - 1] ?? 0) ? b : a));
  const band = { x: [], y: [], low: [], high: [] };
  for (const x of longest.x) {
    const values = curves.map((curve) => valueAt(curve, x)).filter((y) => y !== null && Number.isFinite(y));
    if (!values.length) continue;
    band.x.push(x);
    band.y.push(values.reduce((a, b) => a + b, 0) / values.length);
    band.low.push(Math.min(...values));
    band.high.push(Math.max(...values));
  }
  return band;
}
