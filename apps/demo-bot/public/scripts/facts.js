import { user, whatHappened } from "./chat-client.js";
import { byId, element } from "./element.js";
import { receiptCard } from "./receipt-card.js";
import { language, words } from "./words.js";

const lookEveryMilliseconds = 2000;
const hint = byId("facts-hint");
const list = byId("receipts");
const toggle = byId("show-facts");
const digits = new Intl.NumberFormat(language);
const cards = new Map();
const none = element("li", { className: "none", textContent: words.none });

function show(facts) {
  const isKnown = facts.outcome === "known";
  hint.textContent = isKnown ? words.hint : words.unreachable;
  hint.classList.toggle("warning", !isKnown);
  if (!isKnown) return;
  byId("balance").textContent = digits.format(facts.balance);
  byId("strip-balance").textContent = digits.format(facts.balance);
  showReceipts(facts.receipts);
}

/** Adds new cards only; existing cards keep their open state and focus. */
function showReceipts(receipts) {
  if (receipts.length === 0) return list.replaceChildren(none);
  none.remove();
  const isFirstLook = cards.size === 0;
  const wanted = new Set(receipts.map(keyOf));
  for (const [key, card] of cards) {
    if (wanted.has(key)) continue;
    card.remove();
    cards.delete(key);
  }
  // Newest first: iterate from the oldest and insert each new card before the earlier ones.
  for (const receipt of receipts.toReversed()) {
    const key = keyOf(receipt);
    if (cards.has(key)) continue;
    const card = receiptCard(receipt, user);
    card.classList.toggle("fresh", !isFirstLook);
    cards.set(key, card);
    list.prepend(card);
  }
}

const keyOf = ({ receivedAt, eventId }) => `${receivedAt} ${eventId}`;

export async function lookAtFacts() {
  try {
    show(await whatHappened());
  } catch {
    show({ outcome: "unknown" });
  }
}

function openFacts(isOpen) {
  document.body.classList.toggle("with-facts", isOpen);
  toggle.ariaExpanded = String(isOpen);
  // On a phone the panel covers the conversation, so the conversation becomes inert.
  byId("messages").inert = isOpen;
  byId("foot").inert = isOpen;
}

/** Polls every two seconds while the page is visible. */
export function startFacts() {
  const isColumn = matchMedia("(min-width: 900px)");
  toggle.addEventListener("click", () => openFacts(toggle.ariaExpanded !== "true"));
  document.addEventListener("keydown", ({ key }) => {
    if (key === "Escape" && toggle.ariaExpanded === "true") openFacts(false);
  });
  isColumn.addEventListener("change", () => openFacts(false));
  setInterval(() => document.visibilityState === "visible" && lookAtFacts(), lookEveryMilliseconds);
  lookAtFacts();
}
