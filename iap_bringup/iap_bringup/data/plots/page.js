// SPDX-License-Identifier: BSD-3-Clause
// Panels of series by uPlot: cursors go along in all panels, a drag zooms all of them, a double click shows all again.
(() => {
  const { title, panels } = window.IAP_PLOT;
  document.body.style.cssText = "font:14px sans-serif;margin:12px";
  const heading = document.createElement("h3");
  heading.textContent = title;
  const hint = document.createElement("p");
  hint.textContent = "Drag to zoom, double click to see all, click a name to hide its line.";
  const grid = document.createElement("div");
  grid.style.cssText = "display:grid;grid-template-columns:repeat(auto-fit,minmax(440px,1fr));gap:12px";
  document.body.append(heading, hint, grid);
  const plots = [];
  const cells = panels.map(() => {
    const cell = document.createElement("div");
    cell.className = "iap-panel";
    cell.style.minWidth = "0";
    grid.append(cell);
    return cell;
  });
  const shown = (v) => (v === null || v === undefined ? "" : String(Number(v.toPrecision(5))));
  // What is a thousandth of the picture's axis is noise, and is shown on that axis.
  const range = (low, high, limits) =>
    low === null || high - low < 1e-3 * (limits[1] - limits[0]) ? limits : uPlot.rangeNum(low, high, 0.1, true);
  panels.forEach(({ label, limits, series }, i) => {
    const cell = cells[i];
    const tables = series.map(({ t, values }) => [t, values]);
    const isAlike = tables.every(([t]) => t.length === tables[0][0].length && t.every((each, i) => each === tables[0][0][i]));
    const data = isAlike ? [tables[0][0], ...tables.map(([, values]) => values)] : uPlot.join(tables);
    const options = {
      width: cell.clientWidth || 440,
      height: 220,
      scales: { x: { time: false }, y: { range: (_, low, high) => range(low, high, limits) } },
      cursor: { sync: { key: "t" }, drag: { x: true, y: false } },
      axes: [{ label: "time [s]", labelSize: 18 }, { label, size: 66, values: (_, splits) => splits.map(shown) }],
      series: [
        { label: "t", value: (_, v) => shown(v) },
        ...series.map(({ name, color, dashed }) => ({
          label: name,
          stroke: color,
          width: 1.2,
          dash: dashed ? [6, 4] : undefined,
          spanGaps: !isAlike,
          value: (_, v) => shown(v),
        })),
      ],
    };
    plots.push([new uPlot(options, data, cell), cell]);
  });
  window.IAP_PLOTS = plots.map(([plot]) => plot);
  window.addEventListener("resize", () => {
    for (const [plot, cell] of plots) plot.setSize({ width: cell.clientWidth, height: 220 });
  });
})();
