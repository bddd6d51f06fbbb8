'use strict';
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const settings = { displaylogo: false, displayModeBar: false };
  const narrow = () => window.innerWidth < 720;
  const colour = (name) => getComputedStyle(document.documentElement)
    .getPropertyValue(`--${name}`).trim();

  // `var:name` in a figure is the page's colour of that name, in its present theme.
  const coloured = (value) => {
    if (typeof value === 'string') return value.startsWith('var:') ? colour(value.slice(4)) : value;
    if (Array.isArray(value)) return value.map(coloured);
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, coloured(v)]));
  };

  const axis = (own) => ({
    gridcolor: colour('grid'), zerolinecolor: colour('line'), linecolor: colour('line'),
    automargin: true, fixedrange: narrow(), ...own,
  });

  function layoutOf(figure) {
    const own = figure.layout;
    return {
      paper_bgcolor: 'rgba(0,0,0,0)', plot_bgcolor: 'rgba(0,0,0,0)',
      font: { color: colour('text'), size: 13, family: 'inherit' },
      margin: { l: 52, r: 14, t: 10, b: 44 },
      legend: { orientation: 'h', y: 1.02, yanchor: 'bottom', x: 0 },
      hovermode: 'closest', ...own, xaxis: axis(own.xaxis), yaxis: axis(own.yaxis),
    };
  }

  function draw(place) {
    const figure = data.charts[place.dataset.chart];
    Plotly.react(place, coloured(figure.traces), layoutOf(figure), settings);
    place.dataset.drawn = 'yes';
  }

  const charts = [...document.querySelectorAll('[data-chart]')];
  for (const place of charts) place.style.minHeight = `${data.charts[place.dataset.chart].layout.height}px`;
  // A chart is drawn when it comes near the screen: the page opens at once, however long it is.
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) { seen.unobserve(entry.target); draw(entry.target); }
    }
  }, { rootMargin: '600px' });
  charts.forEach((place) => seen.observe(place));

  // A page is also resized by a turned phone, a print or a sidebar, not by its window alone.
  const sized = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.classList.contains('js-plotly-plot')) Plotly.Plots.resize(target);
    }
  });
  [...charts, document.getElementById('player')].forEach((place) => place && sized.observe(place));

  // The player: vertices are moved by their links' poses and drawn as one mesh.
  const floats = (text) => {
    const raw = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    return new Float32Array(raw.buffer);
  };

  function placed(vertices, links, poses, start) {
    const count = links.length;
    const out = [new Array(count), new Array(count), new Array(count)];
    for (let n = 0; n < count; n += 1) {
      const at = start + 7 * links[n];
      const [px, py, pz, qx, qy, qz, qw] = poses.subarray(at, at + 7);
      const x = vertices[3 * n], y = vertices[3 * n + 1], z = vertices[3 * n + 2];
      const tx = 2 * (qy * z - qz * y), ty = 2 * (qz * x - qx * z), tz = 2 * (qx * y - qy * x);
      out[0][n] = px + x + qw * tx + qy * tz - qz * ty;
      out[1][n] = py + y + qw * ty + qz * tx - qx * tz;
      out[2][n] = pz + z + qw * tz + qx * ty - qy * tx;
    }
    return out;
  }

  function player() {
    const place = document.getElementById('player');
    if (!place || !data.replay) return;
    const r = data.replay;
    const vertices = floats(r.vertices), poses = floats(r.poses), centre = floats(r.centre);
    const elements = floats(r.elements);
    const slider = document.getElementById('frame'), clock = document.getElementById('clock');
    const button = document.getElementById('play');
    const legs = (s) => (s === 0 ? colour('body') : colour(`series${(s - 1) % 6}`));

    function moving(frame) {
      const start = frame * r.links * 7;
      const [x, y, z] = placed(vertices, r.link, poses, start);
      const ends = placed(elements, r.element_link, poses, start);
      const gap = (values) => values.flatMap((v, i) => (i % 2 ? [v, null] : [v]));
      const zmp = r.zmp[frame] || [null, null, null];
      return {
        x: [x, gap(ends[0]), [zmp[0]]], y: [y, gap(ends[1]), [zmp[1]]],
        z: [z, gap(ends[2]), [zmp[2] === null ? null : zmp[2] + 0.004 * r.half_width]],
      };
    }

    function view(frame) {
      const w = r.half_width;
      const bx = centre[3 * frame], by = centre[3 * frame + 1], bz = centre[3 * frame + 2];
      const low = Math.min(...r.ground.z.flat().slice(0, 4)) - 0.05 * w;
      const floor = r.ground.x.length === 2 ? low : bz - 1.1 * w;
      return {
        'scene.xaxis.range': [bx - w, bx + w], 'scene.yaxis.range': [by - w, by + w],
        'scene.zaxis.range': [floor, floor + 2 * w],
      };
    }

    function scene() {
      const now = moving(0), range = view(0);
      const line = (key) => ({
        range: range[`scene.${key}.range`], gridcolor: colour('line'), color: colour('quiet'),
        zeroline: false, showbackground: false, title: { text: '' }, showspikes: false,
        nticks: 6, showticklabels: !narrow(),
      });
      const traces = [
        { type: 'mesh3d', x: now.x[0], y: now.y[0], z: now.z[0], i: r.faces[0], j: r.faces[1],
          k: r.faces[2], facecolor: r.leg.map(legs), flatshading: true, hoverinfo: 'skip',
          lighting: { ambient: 0.55, diffuse: 0.7, specular: 0.15, roughness: 0.8 },
          lightposition: { x: 2000, y: -4000, z: 6000 } },
        { type: 'scatter3d', mode: 'lines', x: now.x[1], y: now.y[1], z: now.z[1],
          line: { color: colour('quiet'), width: 3 }, hoverinfo: 'skip', showlegend: false },
        { type: 'scatter3d', mode: 'markers', x: now.x[2], y: now.y[2], z: now.z[2],
          marker: { color: colour('bad'), size: 5 }, hoverinfo: 'skip', showlegend: false },
        { type: 'surface', x: r.ground.x, y: r.ground.y, z: r.ground.z, showscale: false,
          colorscale: [[0, colour('ground')], [1, colour('ground')]], hoverinfo: 'skip',
          lighting: { ambient: 0.8, diffuse: 0.3, specular: 0.0 }, opacity: 1 },
      ];
      Plotly.react(place, traces, {
        paper_bgcolor: 'rgba(0,0,0,0)', font: { color: colour('quiet'), size: 11 },
        margin: { l: 0, r: 0, t: 0, b: 0 }, showlegend: false, uirevision: 'turned',
        scene: { xaxis: line('xaxis'), yaxis: line('yaxis'), zaxis: line('zaxis'),
          aspectmode: 'cube', uirevision: 'turned', dragmode: 'orbit',
          camera: { eye: { x: 0.9, y: -1.18, z: 0.4 }, center: { x: 0, y: 0, z: -0.14 } } },
      }, settings);
    }

    let playing = false, held = false, frame = 0, last = 0;
    function show(next) {
      frame = next;
      slider.value = frame;
      clock.value = `${(frame * r.period).toFixed(2)} s`;
      const now = moving(frame);
      Plotly.update(place, now, view(frame), [0, 1, 2]);
    }
    function tick(time) {
      if (!playing) return;
      const step = Math.floor((time - last) / (1000 * r.period));
      if (step >= 1 && !held) {
        last += step * 1000 * r.period;
        show((frame + step) % r.frames);
      } else if (held) { last = time; }
      requestAnimationFrame(tick);
    }
    function play(on) {
      playing = on;
      button.textContent = on ? 'Pause' : 'Play';
      if (on) { last = performance.now(); requestAnimationFrame(tick); }
    }
    place.addEventListener('pointerdown', () => { held = true; });
    window.addEventListener('pointerup', () => { held = false; });
    button.addEventListener('click', () => play(!playing));
    slider.max = r.frames - 1;
    slider.addEventListener('input', () => { play(false); show(Number(slider.value)); });
    try {
      scene();
      show(0);
    } catch (error) {
      place.textContent = `The player needs WebGL: ${error.message}`;
    }
    return () => { scene(); show(frame); };
  }
  let redrawPlayer;
  requestAnimationFrame(() => {
    redrawPlayer = player();
    document.documentElement.dataset.ready = 'yes';
  });

  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    charts.filter((place) => place.dataset.drawn).forEach(draw);
    if (redrawPlayer) redrawPlayer();
  });

  for (const one of document.querySelectorAll('[data-copy]')) {
    one.addEventListener('click', () => {
      const text = document.getElementById(one.dataset.copy).textContent;
      navigator.clipboard.writeText(text).then(() => { one.textContent = 'Copied'; });
    });
  }
})();
