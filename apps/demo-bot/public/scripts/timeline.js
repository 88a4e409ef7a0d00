import { timelineOf, user } from "./chat-client.js";
import { byId, element } from "./element.js";
import { isShown } from "./panel-tabs.js";
import { describeStep } from "./timeline-words.js";
import { language, words } from "./words.js";

const list = byId("timeline");
const hint = byId("timeline-hint");
const lookEveryMilliseconds = 1000;
const seconds = new Intl.NumberFormat(language, { minimumFractionDigits: 3, maximumFractionDigits: 3 });
let shown = "";

function show({ outcome, steps = [] }) {
  hint.textContent =
    outcome === "unknown" ? words.timelineUnknown : steps.length === 0 ? words[hint.dataset.words] : words.timelineOf;
  hint.classList.toggle("warning", outcome === "unknown");
  if (outcome === "unknown") return;
  // Drawn only when it has changed, so that a selection and a screen reader's place stay.
  const text = JSON.stringify(steps);
  if (text === shown) return;
  shown = text;
  const start = steps.length === 0 ? 0 : Date.parse(steps[0].at);
  const isFollowed = isInView(list.lastElementChild);
  list.replaceChildren(...steps.map((step) => row(step, Date.parse(step.at) - start)));
  // The newest step stays in view, unless the reader has scrolled up.
  if (isFollowed) list.lastElementChild?.scrollIntoView({ block: "nearest" });
}

function isInView(step) {
  return step ? step.getBoundingClientRect().top < list.closest(".facts").getBoundingClientRect().bottom : false;
}

function row(step, sinceStart) {
  const { title, detail, mark } = describeStep(step);
  const time = element("time", {
    className: "when",
    dateTime: step.at,
    textContent: `+${seconds.format(sinceStart / 1000)}`,
  });
  const text = element("div", {}, element("p", { className: "step-title", textContent: title }));
  if (detail) text.append(element("p", { className: "step-detail", textContent: detail }));
  return element("li", { className: `step ${mark}` }, time, text);
}

export async function lookAtTimeline() {
  if (!isShown("timeline") || document.visibilityState !== "visible") return;
  try {
    show(await timelineOf(user));
  } catch {
    show({ outcome: "unknown" });
  }
}

export function startTimeline() {
  setInterval(lookAtTimeline, lookEveryMilliseconds);
  lookAtTimeline();
}
