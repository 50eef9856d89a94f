// A citation opens its card: in the panel in view, or, for an earlier answer, in the panel that the server
// sends when its message is chosen (Gradio reports the same click as a selection of the message).
(() => {
  const PATIENCE = 5000; // milliseconds in which the panel must have come
  let wanted = null;
  let since = 0;

  function show() {
    const card = wanted && document.getElementById(wanted);
    if (!card) {
      if (Date.now() - since > PATIENCE) wanted = null;
      return;
    }
    wanted = null;
    document.querySelectorAll(".pl-wanted").forEach((other) => other.classList.remove("pl-wanted"));
    card.classList.add("pl-wanted");
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    (card.querySelector("mark") || card).scrollIntoView({ block: "center", behavior: calm ? "auto" : "smooth" });
    card.focus({ preventScroll: true });
  }

  document.addEventListener(
    "click",
    (event) => {
      const link = event.target instanceof Element && event.target.closest('a[href^="#card-"]');
      if (!link) return;
      event.preventDefault();
      wanted = link.getAttribute("href").slice(1);
      since = Date.now();
      show();
    },
    true,
  );
  new MutationObserver(() => wanted && show()).observe(document.documentElement, {
    childList: true,
    subtree: true,
    attributes: true,
    attributeFilter: ["id"],
  });
})();
