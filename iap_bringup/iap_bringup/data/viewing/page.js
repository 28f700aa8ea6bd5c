// SPDX-License-Identifier: BSD-3-Clause
// Beside the playback of viser's page: choice of the camera, events with marks, colours, and images of cameras by time.
// It uses what viser's client exposes for tests (window.__viserMutable): node poses, and the camera's controls.
(() => {
  const flight = window.IAP_FLIGHT;
  const box = document.createElement("div");
  box.style.cssText =
    "position:fixed;top:10px;right:10px;z-index:20;background:#ffffffdd;border:1px solid #ccc;border-radius:4px;" +
    "padding:8px;font:13px sans-serif;max-width:350px;max-height:80vh;overflow:auto";
  const title = document.createElement("b");
  title.textContent = flight.title;
  box.append(title);

  const views = document.createElement("select");
  views.id = "iap-view";
  views.style.cssText = "display:block;margin:6px 0";
  for (const name of ["free", "follow", "from above", "from the side", "from behind"]) {
    const option = document.createElement("option");
    option.textContent = name;
    views.append(option);
  }
  box.append(views);

  const state = () => window.__viserMutable;
  const pose = (node) => state() && state().nodePoseData[node];

  // The node of the root turns x, y, z (z up) into the axes of the renderer.
  const turned = (v) => {
    const [w, x, y, z] = pose("") ? pose("").wxyz : [1, 0, 0, 0];
    const t = [2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])];
    return [
      v[0] + w * t[0] + y * t[2] - z * t[1],
      v[1] + w * t[1] + z * t[0] - x * t[2],
      v[2] + w * t[2] + x * t[1] - y * t[0],
    ];
  };
  const look = (from, distance) => {
    const controls = state() && state().cameraControl;
    if (!controls) return;
    const eye = from.map((each, i) => flight.home[i] + distance * each);
    controls.setLookAt(...turned(eye), ...turned(flight.home), true);
  };
  const directions = { "from above": [-0.01, 0, 1], "from the side": [0, -1, 0.15], "from behind": [-1, 0, 0.3] };
  let follows = false;
  views.onchange = () => {
    follows = views.value === "follow";
    if (views.value in directions) look(directions[views.value], 1.2 * flight.size + 1.5);
    if (follows) look(flight.from, 2.8);
  };

  // Clicks on an event write its time into the playback's field.
  const seek = (t) => {
    const field = document.querySelector("input[inputmode]");
    if (!field) return;
    const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
    set.call(field, String(t));
    field.dispatchEvent(new Event("input", { bubbles: true }));
  };
  for (const [t, text] of flight.events) {
    const link = document.createElement("a");
    link.href = "#";
    link.className = "iap-event";
    link.style.cssText = "display:block;color:#1f5fbf;text-decoration:none";
    link.textContent = `${t.toFixed(2)} s  ${text}`;
    link.onclick = (event) => {
      event.preventDefault();
      seek(t - flight.begin);
    };
    box.append(link);
  }

  // Marks of the events over the playback's slider; a click goes to its time.
  const marks = flight.events.map(([t, text]) => {
    const mark = document.createElement("div");
    mark.className = "iap-mark";
    mark.title = `${t.toFixed(2)} s  ${text}`;
    mark.style.cssText =
      "position:fixed;width:4px;margin-left:-2px;height:16px;background:#d6457e;border-radius:2px;z-index:21;cursor:pointer";
    mark.onclick = () => seek(t - flight.begin);
    document.body.append(mark);
    return { mark, share: (t - flight.begin) / Math.max(flight.end - flight.begin, 1e-6) };
  });
  const placeMarks = () => {
    const track = document.querySelector(".mantine-Slider-track");
    const area = track && track.getBoundingClientRect();
    for (const { mark, share } of marks) {
      mark.style.display = area ? "block" : "none";
      if (!area) continue;
      mark.style.left = `${area.left + Math.min(share, 1) * area.width}px`;
      mark.style.top = `${area.top + area.height / 2 - 8}px`;
    }
  };

  const legend = document.createElement("details");
  const summary = document.createElement("summary");
  summary.textContent = "colours";
  legend.style.cssText = "margin:4px 0";
  legend.append(summary);
  for (const [color, text] of flight.legend) {
    const line = document.createElement("div");
    const square = document.createElement("span");
    square.textContent = "\u25a0 ";
    square.style.color = `rgb(${color})`;
    line.append(square, text);
    legend.append(line);
  }
  box.append(legend);

  const pictures = Object.entries(flight.images).map(([name, images]) => {
    const figure = document.createElement("figure");
    figure.style.cssText = "display:inline-block;margin:4px 4px 0 0";
    const image = document.createElement("img");
    image.style.width = "150px";
    const text = document.createElement("figcaption");
    text.textContent = name;
    text.style.cssText = "font-size:11px";
    figure.append(image, text);
    box.append(figure);
    return { image, images, shown: -1 };
  });
  const showImages = (t) => {
    for (const each of pictures) {
      let i = -1;
      while (i + 1 < each.images.length && each.images[i + 1][0] <= t) i++;
      if (i >= 0 && i !== each.shown) each.image.src = each.images[(each.shown = i)][1];
    }
  };

  setInterval(() => {
    placeMarks();
    const world = pose("/world");
    const vehicle = pose(flight.vehicle);
    if (!world || !vehicle) return;
    const shift = follows ? flight.home.map((each, i) => each - vehicle.position[i]) : [0, 0, 0];
    if (shift.some((each, i) => each !== world.position[i]))
      state().nodePoseData["/world"] = { wxyz: [1, 0, 0, 0], position: shift, poseUpdateState: "needsUpdate" };
    const clock = pose("/clock");
    if (clock) showImages(clock.position[0]);
  }, 33);
  document.body.append(box);
})();
