// Draws the map of a page: cells of locations that the server counts, or the circle of one location.
const base = new URL(".", import.meta.url);
const element = document.querySelector("[data-map]");
const status = document.getElementById("map-says");
if (element) draw().catch(() => { if (status) status.textContent = "The map could not be loaded."; });

async function draw() {
  const L = await import(new URL("leaflet.js", base));
  element.hidden = false;
  element.setAttribute("role", "region");
  element.setAttribute("aria-label", "Map. Arrow keys move it, plus and minus zoom.");
  const quick = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const map = L.map(element, {
    // Leaflet's own tap handling taps twice in Safari (Leaflet #7255).
    tap: false, preferCanvas: true, maxZoom: 18, minZoom: 1, worldCopyJump: true,
    fadeAnimation: !quick, zoomAnimation: !quick, markerZoomAnimation: !quick,
  });
  map.attributionControl.setPrefix(false);
  L.control.scale({ imperial: false }).addTo(map);
  map.setView([20, 10], 2);
  const tiles = content("tiles");
  if (tiles) {
    const layer = L.tileLayer(tiles, { maxZoom: 18 }).addTo(map);
    // Without a tile server, land is better than an empty map.
    layer.once("tileerror", () => {
      world(L, map).catch(() => {});
      map.attributionControl.addAttribution("The tile server does not respond. Land: Natural Earth");
    });
    // Leaflet interprets strings as markup.
    map.attributionControl.addAttribution(text(content("tiles-attribution")).innerHTML);
  } else {
    map.attributionControl.addAttribution("Natural Earth");
  }
  const ground = tiles ? null : world(L, map);
  if (element.dataset.map === "cells") await cells(L, map);
  else if (element.dataset.map === "place") trial(L, map);
  else await change(L, map);
  await ground;
}

const content = (name) => document.querySelector(`meta[name="${name}"]`)?.content;

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Land and borders, as differences in hundredths of a degree.
async function world(L, map) {
  const response = await fetch(new URL("world.json", base));
  if (!response.ok) return;
  const data = await response.json();
  const lines = (list) => list.map((numbers) => {
    let [x, y] = numbers;
    const points = [[y / data.scale, x / data.scale]];
    for (let i = 2; i < numbers.length; i += 2) {
      x += numbers[i];
      y += numbers[i + 1];
      points.push([y / data.scale, x / data.scale]);
    }
    return points;
  });
  // Below all other layers, in whatever order they arrive.
  const pane = "land";
  map.createPane(pane).style.zIndex = 250;
  const renderer = L.canvas({ padding: 0.5, pane });
  const land = L.polygon(lines(data.land).map((ring) => [ring]), {
    pane, renderer, interactive: false, color: colour("--coast"), weight: 1, fillColor: colour("--land"), fillOpacity: 1,
  }).addTo(map);
  const borders = L.polyline(lines(data.borders), {
    pane, renderer, interactive: false, color: colour("--coast"), weight: 0.6,
  }).addTo(map);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    land.setStyle({ color: colour("--coast"), fillColor: colour("--land") });
    borders.setStyle({ color: colour("--coast") });
  });
}

// The cells of locations in some bounds.
async function ask(bounds, zoom) {
  const address = element.dataset.cells;
  const box = [bounds.getWest(), bounds.getSouth(), bounds.getEast(), bounds.getNorth()];
  const clamp = (value, limit) => Math.min(Math.max(value, -limit), limit);
  const bbox = [clamp(box[0], 540), clamp(box[1], 90), clamp(box[2], 540), clamp(box[3], 90)];
  const url = `${address}${address.includes("?") ? "&" : "?"}bbox=${bbox.map((n) => n.toFixed(4)).join(",")}&z=${zoom}`;
  const response = await fetch(url);
  if (!response.ok) throw new Error("no cells");
  return response.json();
}

// Shows all locations.
async function fitAll(L, map) {
  const all = await ask(L.latLngBounds([[-85, -180], [85, 180]]), 2);
  if (!all.bounds) return;
  const [south, west, north, east] = all.bounds;
  map.fitBounds(L.latLngBounds([[south, west], [north, east]]).pad(0.1), { maxZoom: 15, animate: false });
}

async function cells(L, map) {
  const drawn = L.layerGroup().addTo(map);
  let asked = 0;
  const show = async () => {
    const number = ++asked;
    const bounds = map.getBounds();
    const found = await ask(bounds.pad(0.15), Math.round(map.getZoom()));
    if (number !== asked) return;
    drawn.clearLayers();
    const ink = colour("--accent");
    const middle = map.getCenter().lng;
    let inView = 0;
    for (const [latitude, longitude, count, component, name, radius] of found.cells) {
      // The copy of the world that is nearest to the view.
      const at = [latitude, longitude + 360 * Math.round((middle - longitude) / 360)];
      if (bounds.contains(at)) inView += count;
      if (count === 1) {
        L.circle(at, { radius, color: ink, weight: 1, fillOpacity: 0.25, interactive: false }).addTo(drawn);
        const dot = L.circleMarker(at, { radius: 6, color: colour("--paper"), weight: 1.5, fillColor: ink, fillOpacity: 1 });
        dot.bindTooltip(text(name)).on("click", () => {
          location.href = `${element.dataset.places}/${encodeURIComponent(component)}`;
        }).addTo(drawn);
      } else {
        const size = Math.min(9 + 1.5 * Math.log2(count), 24);
        const dot = L.circleMarker(at, { radius: size, color: ink, weight: 1.5, fillColor: ink, fillOpacity: 0.85 });
        if (found.cells.length <= 250) {
          dot.bindTooltip(text(short(count)), { permanent: true, direction: "center", className: "count" });
        }
        dot.on("click", () => map.setView(at, Math.min(map.getZoom() + 3, 18))).addTo(drawn);
      }
    }
    status.textContent = `${inView.toLocaleString("en")} ${inView === 1 ? "location" : "locations"} in view${found.complete ? "" : " (only the densest areas)"}.`;
  };
  const remembered = /^#(\d+)\/(-?[\d.]+)\/(-?[\d.]+)$/.exec(location.hash);
  if (remembered) {
    map.setView([Number(remembered[2]), Number(remembered[3])], Number(remembered[1]));
  } else {
    await fitAll(L, map);
  }
  await show();
  map.on("moveend", () => {
    const { lat, lng } = map.getCenter();
    history.replaceState(null, "", `#${map.getZoom()}/${lat.toFixed(4)}/${lng.toFixed(4)}`);
    show().catch(() => { status.textContent = "The locations could not be loaded. Try again in a moment."; });
  });
}

const field = (name) => document.querySelector(`main input[name="${name}"]`);

const metres = (distance) => `${Math.round(distance).toLocaleString("en")} m`;

function region(L, map, [latitude, longitude, radius], options) {
  return L.circle([latitude, longitude], { radius, weight: 2, interactive: false, ...options }).addTo(map);
}

const current = () => [element.dataset.latitude, element.dataset.longitude, element.dataset.radius].map(Number);

// The circle of a location. A click fills the fields of the point to test.
function trial(L, map) {
  const [latitude, longitude] = current();
  const ink = colour("--accent");
  const circle = region(L, map, current(), { color: ink, fillOpacity: 0.15 });
  L.circleMarker([latitude, longitude], { radius: 5, color: colour("--paper"), weight: 1.5, fillColor: ink, fillOpacity: 1, interactive: false }).addTo(map);
  map.fitBounds(circle.getBounds().pad(0.6), { maxZoom: 18, animate: false });
  const point = L.circleMarker([latitude, longitude], { radius: 6, color: colour("--out"), weight: 3, fillOpacity: 0, interactive: false });
  const show = (at) => {
    point.setLatLng(at).addTo(map);
    status.textContent = `${metres(map.distance([latitude, longitude], at))} from the centre. Select "Try" below.`;
  };
  map.on("click", ({ latlng }) => {
    const { lat, lng } = latlng.wrap();
    field("latitude").value = lat.toFixed(6);
    field("longitude").value = lng.toFixed(6);
    show(latlng);
  });
  status.textContent = "Click the map to set the point to test below.";
  // After a test the fields hold its point.
  const tested = [field("latitude").value, field("longitude").value];
  if (tested.every((value) => value !== "" && Number.isFinite(Number(value)))) {
    show(tested.map(Number));
    status.textContent = `The tested point is ${metres(map.distance([latitude, longitude], tested.map(Number)))} from the centre.`;
    if (!map.getBounds().contains(tested.map(Number))) {
      map.fitBounds(circle.getBounds().extend(tested.map(Number)).pad(0.3), { maxZoom: 18, animate: false });
    }
  }
}

// The current circle, dashed, and the new one. In the form, markers move its centre and its edge, and the fields follow.
// A new location has no current circle. Its circle appears with its centre: by a click, or when the fields have it.
async function change(L, map) {
  const isNew = element.dataset.map === "add";
  const old = isNew ? [0, 0, 100] : current();
  const dashed = isNew ? null : region(L, map, old, { color: colour("--soft"), dashArray: "5 5", fillOpacity: 0 });
  const { newLatitude, newLongitude, newRadius } = element.dataset;
  const isReview = element.dataset.map === "review";
  const circle = L.circle(old, { radius: old[2], weight: 2, interactive: false, color: colour("--accent"), fillOpacity: 0.15 });
  if (isReview) circle.setLatLng([newLatitude, newLongitude].map(Number)).setRadius(Number(newRadius));
  if (!isNew) circle.addTo(map);
  const fit = () => {
    const bounds = circle.getBounds();
    map.fitBounds((dashed ? bounds.extend(dashed.getBounds()) : bounds).pad(0.4), { maxZoom: 18, animate: false });
  };
  const say = () => {
    if (isNew) {
      status.textContent = map.hasLayer(circle)
        ? `Radius ${metres(circle.getRadius())}. Drag the centre or the edge of the circle, or click the map.`
        : "Click the map to set the centre.";
      return;
    }
    const moved = map.distance(dashed.getLatLng(), circle.getLatLng());
    status.textContent = moved === 0 && circle.getRadius() === old[2]
      ? "Drag the centre or the edge of the circle, or click the map."
      : `New: ${metres(moved)} from the current centre, radius ${metres(circle.getRadius())}.`;
  };
  if (isReview) {
    fit();
    return say();
  }
  const handle = (name) => L.marker([0, 0], {
    draggable: true, keyboard: false, autoPan: true, icon: L.divIcon({ className: `handle ${name}`, iconSize: [24, 24] }),
  });
  const centre = handle("centre"), edge = handle("edge");
  const place = () => {
    for (const layer of [circle, centre, edge]) layer.addTo(map);
    centre.setLatLng(circle.getLatLng());
    edge.setLatLng([circle.getLatLng().lat, circle.getBounds().getEast()]);
    say();
  };
  const fill = () => {
    const { lat, lng } = circle.getLatLng().wrap();
    field("latitude").value = lat.toFixed(6);
    field("longitude").value = lng.toFixed(6);
    field("radius").value = circle.getRadius();
  };
  const move = (at) => {
    const isFirst = !map.hasLayer(circle);
    circle.setLatLng(at);
    place();
    fill();
    // Otherwise the two markers could lie on each other.
    if (isFirst) fit();
  };
  const read = () => {
    const [latitude, longitude, radius] = ["latitude", "longitude", "radius"].map((name) => field(name).value.trim() === "" ? NaN : Number(field(name).value));
    const hasCentre = Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180;
    if (hasCentre) circle.setLatLng([latitude, longitude]);
    if (radius > 0 && radius <= 500) circle.setRadius(radius);
    if (isNew && !hasCentre && !map.hasLayer(circle)) return say();
    place();
    if (!map.getBounds().contains(circle.getLatLng())) fit();
  };
  map.on("click", ({ latlng }) => move(latlng));
  centre.on("drag", () => move(centre.getLatLng()));
  edge.on("drag", () => {
    circle.setRadius(Math.min(500, Math.max(1, Math.round(map.distance(circle.getLatLng(), edge.getLatLng())))));
    fill();
    say();
  }).on("dragend", place);
  for (const name of ["latitude", "longitude", "radius"]) field(name).addEventListener("input", read);
  // A pair as maps copy it.
  field("latitude").addEventListener("input", () => {
    const pair = /^\s*(-?\d+\.\d+)\s*,\s*(-?\d+\.\d+)\s*$/.exec(field("latitude").value);
    if (!pair) return;
    [field("latitude").value, field("longitude").value] = [pair[1], pair[2]];
    read();
  });
  // The map of a new location works without the others, too.
  if (isNew) await fitAll(L, map).catch(() => {});
  else fit();
  read();
}

const short = (count) => count < 1000 ? `${count}` : `${(count / 1000).toFixed(count < 10000 ? 1 : 0)}k`;

// Names stay text. Leaflet would interpret a string as markup.
function text(words) {
  const span = document.createElement("span");
  span.textContent = words;
  return span;
}
