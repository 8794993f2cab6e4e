"use strict";
// Hovering over a chart shows the values there; clicking a name hides its curve, with Alt all others.
for (const plot of document.querySelectorAll(".plot")) {
  const svg = plot.querySelector("svg");
  const data = JSON.parse(plot.querySelector("script").textContent);
  const group = i => svg.querySelector(`[data-series="${i}"]`);
  const buttons = [...(plot.parentNode.querySelectorAll(".legend button"))];
  const hidden = new Set();
  const show = () => {
    for (const b of buttons) {
      const i = +b.dataset.series, off = hidden.has(i);
      b.classList.toggle("off", off);
      group(i).classList.toggle("off", off);
    }
  };
  for (const b of buttons) b.onclick = e => {
    const i = +b.dataset.series, all = buttons.map(b => +b.dataset.series);
    if (e.altKey) {
      const alone = all.every(j => (j === i) !== hidden.has(j));
      for (const j of all) alone || j === i ? hidden.delete(j) : hidden.add(j);
    } else hidden.has(i) ? hidden.delete(i) : hidden.add(i);
    show();
  };
  const tip = document.createElement("div");
  tip.className = "tip";
  plot.append(tip);
  const cursor = document.createElementNS("http://www.w3.org/2000/svg", "path");
  cursor.setAttribute("stroke", "#9aa5b1");
  cursor.setAttribute("stroke-dasharray", "3 3");
  svg.append(cursor);
  const number = v => String(+v.toPrecision(5)).replace("-", "−");
  const nearest = (xs, x) => {
    let a = 0, b = xs.length - 1;
    while (b - a > 1) { const m = (a + b) >> 1; xs[m] < x ? a = m : b = m; }
    return Math.abs(xs[a] - x) <= Math.abs(xs[b] - x) ? a : b;
  };
  const [left, top, right, bottom] = data.frame, [from, to] = data.x;
  const leave = () => { tip.style.display = "none"; cursor.setAttribute("d", ""); };
  svg.onmouseleave = leave;
  svg.onmousemove = e => {
    const box = svg.getBoundingClientRect(), scale = svg.viewBox.baseVal.width / box.width;
    const px = (e.clientX - box.left) * scale;
    if (px < left - 4 || px > right + 4) return leave();
    const x = from + (px - left) / (right - left) * (to - from);
    const rows = data.series
      .filter(s => s.x.length && !hidden.has(s.i))
      .map(s => { const k = nearest(s.x, x); return { s, x: s.x[k], y: s.y[k] }; });
    if (!rows.length) return leave();
    const at = rows.reduce((a, b) => Math.abs(b.x - x) < Math.abs(a.x - x) ? b : a).x;
    tip.textContent = "";
    const head = document.createElement("div");
    head.textContent = "step " + Math.round(at);
    tip.append(head);
    const table = document.createElement("table");
    for (const { s, y } of rows) {
      const row = table.insertRow(), name = row.insertCell(), dot = document.createElement("i");
      dot.style.background = s.colour;
      name.append(dot, s.name);
      row.insertCell().textContent = number(y);
    }
    tip.append(table);
    tip.style.display = "block";
    const cx = left + (at - from) / (to - from) * (right - left);
    cursor.setAttribute("d", `M${cx} ${top}V${bottom}`);
    const x0 = cx / scale, flip = x0 + tip.offsetWidth + 18 > box.width;
    tip.style.left = (flip ? Math.max(0, x0 - tip.offsetWidth - 12) : x0 + 12) + "px";
    tip.style.top = Math.max(0, (e.clientY - box.top) - tip.offsetHeight / 2) + "px";
  };
}
