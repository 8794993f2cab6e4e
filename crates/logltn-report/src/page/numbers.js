// Numbers as people read them.

/** Four digits; "–" where there is no number. */
export function shown(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e6 || size < 1e-4 ? value.toExponential(3) : String(Number(value.toPrecision(size >= 1000 ? 6 : 4)));
  return text.replace("-", "−");
}

/** Where a log is above this, it is no rounding: some aggregators give more than a truth of 1. */
const ABOVE = 1e-9;

/** Whether a truth is shown as less than it is. */
export function isCapped(truth, logs) {
  return logs && truth > ABOVE;
}

/** A truth as the runs write it, for people: "0.83 (log −0.19)", "1 (capped, log 0.4)", or "0.83" where truths are no logs. */
export function truthText(truth, logs) {
  if (!logs || truth === null || truth === undefined) return shown(truth);
  return isCapped(truth, logs) ? `1 (capped, log ${shown(truth)})` : `${shown(degree(truth, true))} (log ${shown(truth)})`;
}

/** The marks of an axis: as many digits as tell them apart. */
export function marks(values) {
  const known = values.filter((y) => y !== null);
  const most = Math.max(...known.map(Math.abs), 0);
  const gaps = known.slice(1).map((y, i) => Math.abs(y - known[i])).filter((gap) => gap > 0);
  const gap = gaps.length ? Math.min(...gaps) : most || 1;
  const digits = Math.max(0, Math.ceil(-Math.log10(gap) - 1e-6 + (Math.abs(gap / 10 ** Math.floor(Math.log10(gap)) - 2.5) < 1e-6 ? 1 : 0)));
  const text = (y) => {
    if (y === 0) return "0";
    if (most >= 1e6 || most < 1e-3 || digits > 9) return y.toExponential(Math.max(0, Math.min(9, Math.ceil(Math.log10(Math.abs(y) / gap) + 0.4)))).replace(/\.?0*e\+?/, "e");
    return y.toFixed(digits);
  };
  return values.map((y) => (y === null ? "" : text(y).replaceAll("-", "−")));
}

/** Steps on an axis: "250k", "1.5M". */
export function steps(values) {
  const most = Math.max(...values.map(Math.abs), 0);
  const [unit, letter] = most >= 1e6 ? [1e6, "M"] : most >= 1e4 ? [1e3, "k"] : [1, ""];
  return values.map((x) => (x === 0 ? "0" : `${Number((x / unit).toPrecision(6))}${letter}`));
}

/** A time in seconds, as "3 min 20 s". */
export function duration(seconds) {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "";
  const s = Math.round(seconds);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

/** A truth between 0 and 1; some aggregators give logs above 0. */
export function degree(truth, logs) {
  if (truth === null || truth === undefined) return null;
  return logs ? Math.min(1, Math.exp(truth)) : truth;
}

/** "1,234" */
export function counted(number) {
  return number === null || number === undefined ? "–" : Number(number).toLocaleString("en-US");
}
