// What the page does in the browser: opening cards, keeping conversations, copying, downloading, the map.
(() => {
  const PATIENCE = 5000; // milliseconds in which the panel must have come
  const PREFIX = "plenary:";
  const SETTINGS = "plenary-settings";
  const KEPT = 30; // conversations
  let wanted = null;
  let since = 0;

  // --- citations: a citation opens its card, in the panel in view or in the one that the server sends when its
  // message is chosen (Gradio reports the same click as a selection of the message).

  function show() {
    const card = wanted && document.getElementById(wanted);
    if (!card) {
      if (Date.now() - since > PATIENCE) wanted = null;
      return;
    }
    wanted = null;
    document.querySelectorAll(".pl-wanted").forEach((other) => other.classList.remove("pl-wanted"));
    card.classList.add("pl-wanted");
    bring(card.querySelector("mark") || card);
    card.focus({ preventScroll: true });
  }

  // On a wide page the panel scrolls and the page stays; on a narrow one the page does.
  function bring(target) {
    const behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
    const panel = target.closest("#pl-evidence");
    const frame = panel && panel.getBoundingClientRect();
    if (!panel || panel.scrollHeight <= panel.clientHeight || frame.bottom > innerHeight || frame.top < 0) {
      target.scrollIntoView({ block: "center", behavior });
      return;
    }
    const place = target.getBoundingClientRect();
    panel.scrollBy({ top: place.top - frame.top - (panel.clientHeight - Math.min(place.height, 200)) / 2, behavior });
  }

  // --- the conversation: a new question goes to the top and its answer grows below it, until the reader scrolls.

  let following = false;

  function follow() {
    const asked = document.querySelectorAll('#pl-chat [data-testid="user"]');
    const last = asked[asked.length - 1];
    let frame = last && last.parentElement;
    while (frame && frame.scrollHeight <= frame.clientHeight + 1) frame = frame.id === "pl-chat" ? null : frame.parentElement;
    if (frame) frame.scrollTop += last.getBoundingClientRect().top - frame.getBoundingClientRect().top - 40; // below the buttons
  }

  for (const kind of ["wheel", "touchmove", "pointerdown", "keydown"])
    document.addEventListener(kind, () => (following = false), { passive: true });

  // --- storage: conversations of this browser, one of them that of this tab. It may be forbidden or full.

  function stored(store, key, value) {
    try {
      if (value === undefined) return store.getItem(key);
      if (value === null) store.removeItem(key);
      else store.setItem(key, value);
      return value;
    } catch {
      return null;
    }
  }

  function newId() {
    return Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  function conversations() {
    const found = [];
    try {
      for (let place = 0; place < localStorage.length; place++) {
        const key = localStorage.key(place);
        if (!key.startsWith(PREFIX)) continue;
        const kept = parsed(localStorage.getItem(key));
        if (kept && kept.data) found.push({ id: key.slice(PREFIX.length), ...kept });
      }
    } catch {
      return [];
    }
    return found.sort((one, other) => other.time - one.time);
  }

  function parsed(text) {
    try {
      return JSON.parse(text);
    } catch {
      return null;
    }
  }

  // The tab's conversation; a tab that was duplicated, or opened anew, goes on under an id of its own.
  let current = stored(sessionStorage, "plenary-id") || newId();
  const opened = parsed(stored(localStorage, PREFIX + current));
  const arrival = performance.getEntriesByType("navigation")[0];
  if (arrival && arrival.type === "navigate") current = newId();
  stored(sessionStorage, "plenary-id", current);

  function save({ title, count, save: data }) {
    if (!data) return;
    const entry = JSON.stringify({ title, count, time: Date.now(), data });
    const others = conversations().filter((kept) => kept.id !== current);
    while (others.length >= KEPT) stored(localStorage, PREFIX + others.pop().id, null);
    // The oldest make room where the browser's store is full.
    while (stored(localStorage, PREFIX + current, entry) === null && others.length)
      stored(localStorage, PREFIX + others.pop().id, null);
    list(true);
  }

  function list(again) {
    const place = document.getElementById("pl-past");
    if (!place || (place.dataset.filled && !again)) return;
    place.dataset.filled = "yes";
    place.replaceChildren();
    const kept = conversations().filter((one) => one.id !== current);
    if (!kept.length) place.append(Object.assign(document.createElement("p"), { textContent: place.dataset.empty }));
    for (const one of kept) {
      const row = document.createElement("div");
      const open = document.createElement("button");
      const remove = document.createElement("button");
      row.className = "pl-past";
      open.type = remove.type = "button";
      open.className = remove.className = "pl-act";
      open.textContent = `${one.title || "…"} (${one.count}; ${new Date(one.time).toLocaleString()})`;
      remove.textContent = place.dataset.delete;
      remove.setAttribute("aria-label", `${place.dataset.delete}: ${one.title}`);
      open.addEventListener("click", () => {
        stored(sessionStorage, "plenary-id", one.id);
        location.reload();
      });
      remove.addEventListener("click", () => {
        stored(localStorage, PREFIX + one.id, null);
        list(true);
      });
      row.append(open, remove);
      place.append(row);
    }
  }

  function download({ name, type, text }) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  }

  function focusBox() {
    // Not before the text has come and, from the library, the tab is there.
    setTimeout(() => {
      const box = document.querySelector("#pl-box textarea");
      if (!box) return;
      box.focus();
      box.setSelectionRange(box.value.length, box.value.length);
      box.scrollIntoView({ block: "nearest" });
    }, 150);
  }

  window.plenary = {
    take(mail) {
      const content = parsed(mail) || {};
      if (content.save !== undefined) save(content);
      if (content.follow) following = true;
      if (content.download) download(content.download);
      if (content.focus) focusBox();
      if (content.new) {
        current = stored(sessionStorage, "plenary-id", newId()) || newId();
        list(true);
      }
    },
    // Gradio hands over [session, saved, ...settings]; what the browser has kept takes their place.
    restored(values) {
      const kept = parsed(stored(localStorage, SETTINGS));
      const settings = Array.isArray(kept) && kept.length === values.length - 2 ? kept : values.slice(2);
      speak(settings[3]);
      return [values[0], (opened && opened.data) || "", ...settings];
    },
    keep(values) {
      stored(localStorage, SETTINGS, JSON.stringify(values.slice(1)));
      speak(values[4]);
      return values;
    },
  };

  function speak(language) {
    document.documentElement.lang = language === "zh" ? "zh" : "en";
  }

  // --- the map: buttons and the wheel change what of the picture is seen, dragging moves it.

  function zoom(svg, factor, x = 0.5, y = 0.5) {
    const [left, top, size] = svg.getAttribute("viewBox").split(" ").map(Number);
    const next = factor === 0 ? 900 : Math.min(900, Math.max(30, size * factor));
    const within = (start, at) => (factor === 0 ? 0 : Math.min(900 - next, Math.max(0, start + (size - next) * at)));
    svg.setAttribute("viewBox", `${within(left, x)} ${within(top, y)} ${next} ${next}`);
    // Dots keep their size on the screen.
    svg.style.setProperty("--pl-zoom", next / 900);
  }

  function wheel(event) {
    const svg = event.target instanceof Element && event.target.closest(".pl-map svg");
    if (!svg) return;
    event.preventDefault();
    const box = svg.getBoundingClientRect();
    const at = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
    zoom(svg, event.deltaY < 0 ? 0.8 : 1.25, ...at);
  }

  let drag = null;
  function move(event) {
    if (!drag) return;
    const scale = drag.size / drag.svg.getBoundingClientRect().width;
    const limit = (value) => Math.min(900 - drag.size, Math.max(0, value));
    const left = limit(drag.left - (event.clientX - drag.x) * scale);
    const top = limit(drag.top - (event.clientY - drag.y) * scale);
    drag.svg.setAttribute("viewBox", `${left} ${top} ${drag.size} ${drag.size}`);
  }

  document.addEventListener("pointerdown", (event) => {
    const svg = event.target instanceof Element && event.target.closest(".pl-map svg");
    if (!svg) return;
    const [left, top, size] = svg.getAttribute("viewBox").split(" ").map(Number);
    drag = { svg, left, top, size, x: event.clientX, y: event.clientY };
  });
  document.addEventListener("pointermove", move);
  document.addEventListener("pointerup", () => (drag = null));
  document.addEventListener("wheel", wheel, { passive: false });

  // --- clicks

  async function copy(button) {
    const text = button.closest("details").querySelector("pre").textContent;
    const label = button.textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Not allowed outside of secure pages: the older way needs a selection.
      getSelection().selectAllChildren(button.closest("details").querySelector("pre"));
      document.execCommand("copy");
    }
    button.textContent = button.dataset.copy;
    setTimeout(() => (button.textContent = label), 2000);
  }

  document.addEventListener(
    "click",
    (event) => {
      if (!(event.target instanceof Element)) return;
      const link = event.target.closest('a[href^="#card-"], a[href^="#theme-"]');
      const copied = event.target.closest("[data-copy]");
      const zoomed = event.target.closest("[data-zoom]");
      if (copied) copy(copied);
      if (zoomed) zoom(zoomed.closest(".pl-map").querySelector("svg"), Number(zoomed.dataset.zoom));
      if (!link) return;
      event.preventDefault();
      wanted = link.getAttribute("href").slice(1);
      since = Date.now();
      show();
    },
    true,
  );
  new MutationObserver(() => {
    if (wanted) show();
    if (following) follow();
    list(false);
    // Gradio calls a group of buttons a list, which readers of the screen do not find items in.
    document.querySelectorAll('#pl-chat .examples[role="list"]').forEach((group) => group.setAttribute("role", "group"));
  }).observe(document.documentElement, {
    childList: true,
    subtree: true,
    attributes: true,
    attributeFilter: ["id"],
  });
})();
