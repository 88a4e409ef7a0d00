import { user, whatHappened } from "./chat-client.js";
import { byId, element } from "./element.js";
import { showEndpoint, startEndpoint } from "./endpoint.js";
import { receiptCard } from "./receipt-card.js";
import { offerToVerifier } from "./verifier.js";
import { language, words } from "./words.js";

const lookEveryMilliseconds = 2000;
const hint = byId("facts-hint");
const list = byId("receipts");
const toggle = byId("show-facts");
const digits = new Intl.NumberFormat(language);
const cards = new Map();
let hasReceiver = false;
const none = element("li", { className: "none", textContent: words.none });

function show(facts) {
  const isKnown = facts.outcome === "known";
  hint.textContent = isKnown ? hintOf(facts) : words.unreachable;
  hint.classList.toggle("warning", !isKnown);
  if (!isKnown) return;
  showBalance(facts.balance);
  showEndpoint(facts.endpoint);
  showReceipts(facts.receipts);
  showAttempts(facts.attempts);
}

/** The chat knows no balance of a bot of one's own. */
const hintOf = ({ balance }) => (balance === null ? words.ownHint : words.hint);

function showBalance(balance) {
  for (const id of ["balance", "strip-balance"]) {
    byId(id).closest(".balance, .strip-balance").hidden = balance === null;
    byId(id).textContent = balance === null ? "" : digits.format(balance);
  }
}

/** Adds new cards only; existing cards keep their open state and focus. */
function showReceipts(receipts) {
  if (receipts.length === 0) return list.replaceChildren(none);
  none.remove();
  const isFirstLook = cards.size === 0;
  const currentKeys = new Set(receipts.map(keyOf));
  for (const [key, { card }] of cards) {
    if (currentKeys.has(key)) continue;
    card.remove();
    cards.delete(key);
  }
  const signed = receipts.find(({ rawBody }) => rawBody !== null);
  if (signed) offerToVerifier({ body: signed.rawBody, signature: signed.signatureHeader });
  for (const receipt of receipts) {
    const key = keyOf(receipt);
    if (cards.has(key)) continue;
    const made = receiptCard(receipt, { user, hasReceiver });
    made.card.classList.toggle("fresh", !isFirstLook);
    cards.set(key, made);
  }
  // Newest first. A card that keeps its place is not moved, so that it keeps the focus.
  let place = list.firstElementChild;
  for (const { card } of receipts.map((receipt) => cards.get(keyOf(receipt)))) {
    if (card === place) place = place.nextElementSibling;
    else list.insertBefore(card, place);
  }
}

function showAttempts(attempts) {
  for (const { eventId, showAttempts: showIn } of cards.values()) {
    showIn(attempts.filter((attempt) => attempt.eventId === eventId));
  }
}

/** A webhook that is delivered later gets a new card. */
const keyOf = ({ receivedAt, eventId, outcome }) => `${receivedAt} ${eventId} ${outcome}`;

export async function lookAtFacts() {
  try {
    show(await whatHappened());
  } catch {
    show({ outcome: "unknown" });
  }
}

const isOpen = () => toggle.getAttribute("aria-expanded") === "true";

/** On a phone the panel covers the conversation, which the style sheet hides meanwhile. */
function openFacts(isShown) {
  document.body.classList.toggle("with-facts", isShown);
  toggle.setAttribute("aria-expanded", String(isShown));
}

// At once: a tap must not be lost that comes before the page knows its bot.
toggle.addEventListener("click", () => openFacts(!isOpen()));
document.addEventListener("keydown", ({ key }) => {
  if (key === "Escape" && isOpen()) openFacts(false);
});
matchMedia("(min-width: 900px)").addEventListener("change", () => openFacts(false));

/** Polls every two seconds while the page is visible. `receiver` is the demo's own; undefined for a bot of one's own. */
export function startFacts(receiver) {
  hasReceiver = receiver !== undefined;
  startEndpoint(lookAtFacts);
  setInterval(() => document.visibilityState === "visible" && lookAtFacts(), lookEveryMilliseconds);
  lookAtFacts();
}
