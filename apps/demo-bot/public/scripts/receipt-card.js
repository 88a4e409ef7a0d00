import { attemptList } from "./attempts.js";
import { element, icon } from "./element.js";
import { language, words } from "./words.js";

const clock = new Intl.DateTimeFormat(language, { timeStyle: "medium" });
let openedByItself;

/** One webhook: its content, its outcome, its raw bytes and its attempts. */
export function receiptCard(receipt, { user, hasReceiver }) {
  const attempts = attemptList(receipt.eventId, { hasReceiver });
  const card = cardOf(receipt, user, attempts);
  return { card, eventId: receipt.eventId, showAttempts: attempts.show };
}

function cardOf(receipt, user, attempts) {
  const { event, outcome, reason, rawBody, receivedAt } = receipt;
  const fields = receipt.fields ?? (rawBody === null ? {} : JSON.parse(rawBody));
  const isOwn = fields.user_tg_id === user;
  // The contract: test webhooks name the user 0, who does not exist.
  const isTest = fields.user_tg_id === "0" || reason === "test";
  const why = reason === null ? "" : `: ${words.reasons[reason] ?? reason}`;
  const title = element("h3", {
    textContent: isTest ? words.setUpTest : (words.events[event] ?? event ?? words.webhooks),
  });
  const time = element("time", { dateTime: receivedAt, textContent: clock.format(new Date(receivedAt)) });
  const verdict = verdictOf(receipt);
  const result = element("span", { className: "outcome", textContent: `${words.outcomes[outcome]}${why}` });
  const card = element("li", { className: `receipt ${outcome}` });
  card.append(
    element("div", { className: "receipt-head" }, title, time),
    element("p", { className: "badges" }, ...verdict, result),
    ...(isTest ? [element("p", { className: "note", textContent: words.setUpTestNote })] : []),
    fieldList(fields, isOwn),
  );
  // Without an id it cannot be sent again, and a test is sent once.
  if (receipt.eventId !== null && !isTest) card.append(...attempts.nodes);
  if (rawBody === null) return card;
  const details = rawDetails(receipt);
  // The user's newest webhook is expanded, the others on demand.
  if (isOwn) {
    if (openedByItself) openedByItself.open = false;
    details.open = true;
    openedByItself = details;
  }
  card.append(details);
  return card;
}

/** The ledger verified the bytes, or read the event from the list. What is still on its way has no verdict. */
function verdictOf({ rawBody, outcome }) {
  if (rawBody !== null) return [element("span", { className: "verdict" }, icon("shield"), words.verified)];
  if (!["credited", "refused"].includes(outcome)) return [];
  return [element("span", { className: "verdict" }, icon("feed"), words.reconciled)];
}

function fieldList(fields, isOwn) {
  const list = element("dl", { className: "fields" });
  for (const [name, label] of Object.entries(words.fields)) {
    if (fields[name] === undefined) continue;
    const value = element("dd", {}, element("bdi", { textContent: fields[name] }));
    if (name === "user_tg_id" && isOwn) value.append(` (${words.thisUser})`);
    list.append(element("div", {}, element("dt", { textContent: label }), value));
  }
  return list;
}

function rawDetails({ rawBody, signatureHeader }) {
  const copy = element("button", { type: "button", className: "copy", ariaLabel: words.copy }, icon("copy"));
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(rawBody);
    copy.ariaLabel = words.copied;
    copy.replaceChildren(icon("check"));
  });
  return element(
    "details",
    {},
    element("summary", { textContent: words.raw }),
    element("p", { className: "label", textContent: words.signature }),
    element("pre", {}, element("code", { textContent: signatureHeader })),
    element("div", { className: "label" }, words.body, copy),
    element("pre", {}, element("code", {}, ...coloured(rawBody))),
  );
}

/** The same characters, with names and values highlighted. */
function coloured(json) {
  return json.split(/("(?:[^"\\]|\\.)*")/).map((part, at, parts) => {
    if (!part.startsWith('"')) return part;
    const isName = parts[at + 1]?.trimStart().startsWith(":");
    return element("span", { className: isName ? "json-name" : "json-text", textContent: part });
  });
}
