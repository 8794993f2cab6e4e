// Numbers as people read them.

/** Four digits; "–" where there is no number. */
export function shown(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e6 || size < 1e-4 ? value.toExponential(3) : String(Number(value.toPrecision(size >= 1000 ? 6 : 4)));
  return text.replace("-", "−");
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
