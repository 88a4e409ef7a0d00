import { testEndpoint } from "./chat-client.js";
import { byId } from "./element.js";
import { words } from "./words.js";

const place = byId("endpoint");
const text = byId("endpoint-text");
const test = byId("endpoint-test");

/** Why a webhook address gets no events, until it does; and a button that asks it again. */
export function showEndpoint(endpoint) {
  const trouble = describeEndpoint(endpoint);
  place.hidden = trouble === "";
  // Set only when it changes: it is a live region.
  if (text.textContent !== trouble) text.textContent = trouble;
}

export function startEndpoint(onTested) {
  test.addEventListener("click", async () => {
    test.disabled = true;
    await testEndpoint().catch(() => {});
    test.disabled = false;
    onTested();
  });
}

function describeEndpoint({ url, state, backoffUntil, probeAt, held, lastStatus, lastErrorClass }) {
  const t = words.endpoint;
  if (url === null) return t.none;
  const waiting = held > 0 ? ` ${t.held(held)}` : "";
  const why = reasonOf(lastStatus, lastErrorClass);
  if (state === "pending") return `${t.pending(url)}${why === "" ? "" : ` ${why}`}${waiting}`;
  if (state === "disabled") return `${t.disabled(url)}${waiting}`;
  const resumesAt = probeAt ?? backoffUntil;
  return resumesAt === null ? "" : `${t.pauses(url)} ${why}`;
}

/** In the words of the page, with the next step where there is one. */
function reasonOf(status, errorClass) {
  const t = words.endpoint;
  if (errorClass !== null) return t.errors[errorClass] ?? errorClass;
  if (status === null) return "";
  return t.statuses[status] ?? t.answered(status);
}
