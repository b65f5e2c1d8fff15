// Forces as numbers: in the corner at the time that is shown, and beside a force arrow where the pointer is.
//
// The player of a page tells neither. The time is what its slider says to screen readers. The camera is known from
// three.js, which tells a page's developer tools of every scene: without that there are no numbers beside arrows, and the
// corner says so.
(() => {
const NEAR = 14; // px
const PATIENCE = 20; // pictures, or tenths of a second, without a camera
let data = null, seen = null, pointer = null, told = false, blind = 0;

const tools = (globalThis.__THREE_DEVTOOLS__ ??= new EventTarget());
tools.addEventListener("observe", ({ detail: scene }) => {
  if (!scene.isScene) return;
  told = true;
  const before = scene.onBeforeRender;
  let drawn = null;
  scene.onBeforeRender = function (renderer, own, camera, ...rest) {
    before.call(this, renderer, own, camera, ...rest);
    if (!drawn?.parent) scene.traverse((each) => { if (each.isInstancedMesh2) drawn = each; });
    // what is drawn has no pose of its own: it shows how the world lies in the scene
    if (drawn?.parent) seen = { camera, world: drawn.matrixWorld, canvas: renderer.domElement };
    else blind++;
  };
});

/** Index of the frame that is shown. */
function frame() {
  const slider = document.querySelector('[role="slider"]');
  const at = data.time[0] + data.speed * Number(slider?.getAttribute("aria-valuenow") ?? 0);
  let k = 0;
  while (k + 1 < data.time.length && data.time[k + 1] <= at + 1e-6 * data.speed) k++;
  return k;
}

/** Where a point of the world is on the screen [px], null behind the camera. Matrices stand by columns. */
function project(point) {
  let at = [...point, 1];
  for (const { elements: m } of [seen.world, seen.camera.matrixWorldInverse, seen.camera.projectionMatrix])
    at = [0, 1, 2, 3].map((i) => m[i] * at[0] + m[4 + i] * at[1] + m[8 + i] * at[2] + m[12 + i] * at[3]);
  if (!(at[3] > 0)) return null;
  const box = seen.canvas.getBoundingClientRect();
  return [box.left + (1 + at[0] / at[3]) * box.width / 2, box.top + (1 - at[1] / at[3]) * box.height / 2];
}

/** Distance of a point from the line between two others. */
function distance([x, y], [ax, ay], [bx, by]) {
  const length = (bx - ax) ** 2 + (by - ay) ** 2;
  const along = length && Math.max(0, Math.min(1, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length));
  return Math.hypot(x - ax - along * (bx - ax), y - ay - along * (by - ay));
}

/** A number with three digits of a size. */
function digits(value, size) {
  const unit = 10 ** (Math.floor(Math.log10(size)) - 2);
  return Number((Math.round(value / unit) * unit).toPrecision(3));
}

/** What the arrow nearest to the pointer says; null where none is near. */
function pointed(k) {
  let near = NEAR, words = null;
  for (let c = data.begin[k]; c < data.begin[k + 1]; c++) {
    const point = data.values.slice(6 * c, 6 * c + 3), force = data.values.slice(6 * c + 3, 6 * c + 6);
    const size = Math.hypot(...force);
    if (!size) continue;
    const scale = Math.min(data.scale, data.longest / size);
    const tail = project(point), tip = project(point.map((x, i) => x + scale * force[i]));
    if (!tail || !tip) continue;
    const away = distance(pointer, tail, tip);
    if (away < near) {
      near = away;
      const parts = Array.from(force, (each) => digits(each, size)).join(", ");
      words = `${digits(size, size)} N (${parts}), ${data.words[data.mode[c]]}`;
    }
  }
  return words;
}

function start() {
  const element = document.getElementById("corekit-forces");
  if (!element) return;
  data = JSON.parse(element.textContent);
  data.values = new Float32Array(Uint8Array.from(atob(data.values), (each) => each.charCodeAt(0)).buffer);
  const [words, strip, now, tip, missing] = ["force", "strip", "now", "tip", "missing"].map((name) =>
    document.getElementById(`corekit-${name}`));
  document.body.append(tip); // a folded corner would hide it
  const last = data.time.length - 1, across = data.time[last] - data.time[0];
  let chosen = null;
  const tell = () => {
    const k = chosen ?? frame();
    const count = data.begin[k + 1] - data.begin[k], x = across ? (data.time[k] - data.time[0]) / across * data.width : 0;
    now.setAttribute("x1", x);
    now.setAttribute("x2", x);
    words.textContent = `${Number(data.time[k].toPrecision(6))} s: ${data.total[k]} N by ${count} contact${count === 1 ? "" : "s"}, ` +
      `the largest ${data.largest[k]} N`;
    const said = pointer && seen ? pointed(frame()) : null;
    tip.style.display = said ? "block" : "none";
    if (!said) return;
    tip.textContent = said;
    tip.style.left = `${pointer[0] + 14}px`;
    tip.style.top = `${pointer[1] + 14}px`;
  };
  strip.addEventListener("pointermove", (event) => {
    const box = strip.getBoundingClientRect();
    const at = data.time[0] + (event.clientX - box.left) / box.width * across;
    chosen = 0;
    while (chosen < last && Math.abs(data.time[chosen + 1] - at) <= Math.abs(data.time[chosen] - at)) chosen++;
    tell();
  });
  strip.addEventListener("pointerleave", () => { chosen = null; tell(); });
  document.addEventListener("pointermove", (event) => { pointer = [event.clientX, event.clientY]; tell(); });
  document.addEventListener("pointerleave", () => { pointer = null; tell(); });
  setInterval(() => {
    if (!told && document.querySelector("canvas")) blind++;
    missing.style.display = !seen && blind > PATIENCE ? "block" : "none";
    tell();
  }, 100);
  tell();
}
document.addEventListener("DOMContentLoaded", start);
})();
