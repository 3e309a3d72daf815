"use strict";
(() => {
  const data = JSON.parse(document.getElementById("page-data").textContent);
  const byId = (id) => document.getElementById(id);
  const percent = (rate) => (100 * rate).toFixed(2) + " %";

  byId("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    const now = root.dataset.theme || system;
    root.dataset.theme = now === "dark" ? "light" : "dark";
  });

  const at = (axes, x, y) => [axes.x0 + x * axes.dx, axes.y0 + y * axes.dy];
  const moveDot = (svg, column, row) => {
    const dot = svg.querySelector(".dot");
    dot.setAttribute("cx", column);
    dot.setAttribute("cy", row);
  };
  const userX = (svg, event) => {
    const box = svg.getBoundingClientRect();
    return (event.clientX - box.left) * svg.viewBox.baseVal.width / box.width;
  };
  const userY = (svg, event) => {
    const box = svg.getBoundingClientRect();
    return (event.clientY - box.top) * svg.viewBox.baseVal.height / box.height;
  };

  // ROC curve: the vertex nearest to the pointer, or the one that the arrow keys reach.
  if (data.roc) {
    const { points, axes } = data.roc;
    const charts = [...document.querySelectorAll("svg[data-roc]")];
    const count = points.fpr.length;
    let current = 0;
    const show = (index) => {
      current = Math.max(0, Math.min(count - 1, index));
      const k = current;
      for (const svg of charts) {
        const one = axes[svg.dataset.roc];
        const [column, row] = at(one, points.fpr[k], points.tpr[k]);
        const [left] = at(one, points.fpr_low[k], 0), [right] = at(one, points.fpr_high[k], 0);
        const [, low] = at(one, 0, points.tpr_low[k]), [, high] = at(one, 0, points.tpr_high[k]);
        moveDot(svg, column, row);
        svg.querySelector(".whisker").setAttribute("d", `M${left} ${row}H${right}M${column} ${low}V${high}`);
      }
      const threshold = points.threshold[k];
      const readout = byId("roc-readout");
      readout.textContent =
        `score from ${threshold === null ? "∞" : threshold.toPrecision(6)} · ` +
        `FPR ${percent(points.fpr[k])} [${percent(points.fpr_low[k])}, ${percent(points.fpr_high[k])}] · ` +
        `TPR ${percent(points.tpr[k])} [${percent(points.tpr_low[k])}, ${percent(points.tpr_high[k])}]`;
      readout.dataset.index = k;
    };
    for (const svg of charts) {
      const one = axes[svg.dataset.roc];
      svg.addEventListener("pointermove", (event) => {
        const column = userX(svg, event), row = userY(svg, event);
        let best = 0, least = Infinity;
        for (let k = 0; k < count; k++) {
          const [x, y] = at(one, points.fpr[k], points.tpr[k]);
          const distance = (x - column) ** 2 + (y - row) ** 2;
          if (distance < least) { least = distance; best = k; }
        }
        show(best);
      });
      svg.addEventListener("keydown", (event) => {
        const jump = event.shiftKey ? 10 : 1;
        const moves = {
          ArrowRight: current + jump, ArrowUp: current + jump,
          ArrowLeft: current - jump, ArrowDown: current - jump, Home: 0, End: count - 1,
        };
        if (event.key in moves) { event.preventDefault(); show(moves[event.key]); }
      });
    }
  }

  // Line search: FP and FN as functions of the constant that is added to all predictions.
  if (data.linesearch) {
    const { fp, fn, runs } = data.linesearch;
    const n = fp.length;
    const total = (values) => values.reduce((sum, value) => sum + value, 0);
    const allFp = total(fp), allFn = total(fn);
    const roc = document.querySelector('svg[data-ls="roc"]');
    const rocAxes = JSON.parse(roc.dataset.geometry);
    const order = new Int32Array(n), threshold = new Float64Array(n);
    const ROUNDING = 1e-14;
    let run = runs[0];

    const measure = (step) => {
      let startSize = 0, slopeSize = 0;
      for (let i = 0; i < n; i++) {
        order[i] = i;
        threshold[i] = -run.prediction[i] - step * run.direction[i];
        startSize += Math.abs(run.prediction[i]) / n;
        slopeSize += Math.abs(run.direction[i]) / n;
      }
      order.sort((a, b) => threshold[a] - threshold[b]);
      const reach = ROUNDING * (startSize + step * slopeSize);
      let aum = 0, area = 0, x = 0, missed = allFn, k = 0;
      let meeting = [0, 0], closest = Infinity;
      const curve = [[0, 0]];
      while (k < n) {
        const first = threshold[order[k]];
        let last = first, dx = 0, gone = 0;
        do { last = threshold[order[k]]; dx += fp[order[k]]; gone += fn[order[k]]; k++; }
        while (k < n && threshold[order[k]] - last <= reach);
        const before = 1 - missed / allFn;
        x += dx; missed -= gone;
        const after = 1 - missed / allFn;
        area += dx * (before + after) / 2;
        curve.push([x / allFp, after]);
        if (k < n) aum += (threshold[order[k]] - first) * Math.min(x, missed);
        const distance = Math.abs(x / allFp - missed / allFn);
        if (distance < closest) { closest = distance; meeting = [x / allFp, after]; }
      }
      return { aum, auc: area / allFp, curve, meeting };
    };
    const put = (id, value) => {
      byId(id).textContent = value.toPrecision(7);
      byId(id).dataset.value = value;
    };
    const show = (step) => {
      const result = measure(step);
      byId("ls-roc").setAttribute("d", "M" + result.curve.map(([x, y]) => at(rocAxes, x, y).map((v) => v.toFixed(2)).join(" ")).join("L"));
      moveDot(roc, ...at(rocAxes, ...result.meeting));
      put("ls-at", step); put("ls-aum", result.aum); put("ls-auc", result.auc);
      byId("ls-hint").textContent = step <= run.end ? "" :
        `The pictures end at step ${run.end.toPrecision(4)}; this step lies to the right of them.`;
      const panel = document.querySelector(`.run[data-run="${runs.indexOf(run)}"]`);
      for (const key of ["aum", "auc", "thresholds"]) {
        const svg = panel.querySelector(`svg[data-ls="${key}"]`);
        const [column] = at(run.axes[key], step, 0);
        svg.querySelector(".cursor").setAttribute("d", `M${column} ${run.axes[key].top}V${run.axes[key].bottom}`);
        if (key in result) moveDot(svg, ...at(run.axes[key], step, result[key]));
      }
    };
    const slider = byId("ls-slider"), exact = byId("ls-step");
    const go = (step) => {
      slider.value = Math.round(1000 * step / run.end);
      slider.setAttribute("aria-valuetext", `step ${step.toPrecision(4)}`);
      exact.value = step;
      show(step);
    };
    slider.addEventListener("input", () => {
      const step = slider.value * run.end / 1000;
      exact.value = step;
      slider.setAttribute("aria-valuetext", `step ${step.toPrecision(4)}`);
      show(step);
    });
    exact.addEventListener("change", () => go(Math.max(0, Number(exact.value) || 0)));
    byId("ls-taken").addEventListener("click", () => go(run.taken));
    byId("ls-least").addEventListener("click", () => go(run.least_aum));
    byId("ls-greatest").addEventListener("click", () => go(run.greatest_auc));
    byId("ls-run").addEventListener("change", (event) => {
      run = runs[Number(event.target.value)];
      for (const panel of document.querySelectorAll(".run")) panel.hidden = panel.dataset.run !== event.target.value;
      go(0);
    });
    go(0);
  }
})();
