import { sendAgain } from "./chat-client.js";
import { requestForms } from "./copy-request.js";
import { element, icon } from "./element.js";
import { openVerifier } from "./verifier.js";
import { language, words } from "./words.js";

const clock = new Intl.DateTimeFormat(language, { timeStyle: "medium" });

/** The attempts to deliver one event. `show` adds what is new and keeps what is open. */
export function attemptList(eventId, { hasReceiver }) {
  const list = element("ol", { className: "attempts" });
  const again = element("button", { type: "button", className: "small-key", textContent: words.sendAgain });
  again.addEventListener("click", async () => {
    again.disabled = true;
    const isSent = await sendAgain(eventId).then(
      () => true,
      () => false,
    );
    again.textContent = isSent ? words.sendAgain : words.sendAgainFailed;
    again.disabled = false;
  });
  const items = new Map();

  function show(attempts) {
    for (const attempt of attempts) {
      const state = `${attempt.status} ${attempt.errorClass} ${attempt.nextAt} ${attempt.advice}`;
      const known = items.get(attempt.attempt);
      if (known?.state === state) continue;
      const item = attemptItem(attempt, hasReceiver);
      if (known) known.item.replaceWith(item);
      else list.append(item);
      items.set(attempt.attempt, { state, item });
    }
  }
  return { nodes: [list, again], show };
}

function attemptItem(attempt, hasReceiver) {
  const { attempt: number, at, ms, status, errorClass, answer, advice, nextAt, isReplay, body, request, url } = attempt;
  const isAccepted = status !== null && status >= 200 && status <= 299;
  const isOver = status !== null || errorClass !== null;
  const result = isOver ? String(errorClass ?? status) : words.steps.underWay;
  const summary = element(
    "summary",
    {},
    element("span", { textContent: isReplay ? words.steps.replay(number) : words.steps.attempt(number) }),
    element("span", { className: `result ${isOver ? (isAccepted ? "good" : "bad") : ""}`, textContent: result }),
    element("span", {
      className: "took",
      textContent: ms === null ? clock.format(new Date(at)) : `${ms} ${words.millisecondsShort}`,
    }),
  );
  const details = element("details", {}, summary);
  if (request) details.append(...part(words.requestHeaders, headerLines(request.headers)));
  details.append(...part(words.body, body));
  if (answer) details.append(...part(words.answer, answer));
  if (request) details.append(copyKeys({ url, headers: request.headers, body }, hasReceiver));
  const item = element("li", {}, details);
  // The ad service's own sentence, as the publisher's command `deliveries` shows it.
  if (advice !== null) {
    const sentence = element("span", { lang: "en", dir: "ltr", textContent: advice });
    item.append(element("p", { className: "note advice" }, element("b", { textContent: words.advice }), " ", sentence));
  }
  if (nextAt !== null) {
    item.append(element("p", { className: "note", textContent: words.steps.next(clock.format(new Date(nextAt))) }));
  }
  return item;
}

const headerLines = (headers) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");

function part(label, text) {
  return [
    element("p", { className: "label", textContent: label }),
    element("pre", {}, element("code", { textContent: text })),
  ];
}

function copyKeys(request, hasReceiver) {
  const keys = Object.entries(requestForms).map(([name, form]) => copyKey(name, () => form(request)));
  if (hasReceiver) {
    const check = element("button", { type: "button", className: "small-key", textContent: words.verify });
    check.addEventListener("click", () =>
      openVerifier({ body: request.body, signature: request.headers["x-signature"] ?? "" }),
    );
    keys.push(check);
  }
  return element("div", { className: "small-keys" }, ...keys);
}

/** A button that copies a text and says so. */
export function copyKey(name, textOf) {
  const key = element(
    "button",
    { type: "button", className: "small-key", ariaLabel: words.copyAs(name) },
    icon("copy"),
    name,
  );
  key.addEventListener("click", async () => {
    await navigator.clipboard.writeText(textOf());
    key.ariaLabel = words.copied;
    key.firstChild.replaceWith(icon("check"));
  });
  return key;
}
