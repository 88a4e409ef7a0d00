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
  hint.textContent = isKnown ? hintOf(facts) : words.unreachable;
  hint.classList.toggle("warning", !isKnown);
  if (!isKnown) return;
  showBalance(facts.balance);
  showReceipts(facts.receipts);
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
  const wanted = new Set(receipts.map(keyOf));
  for (const [key, card] of cards) {
    if (wanted.has(key)) continue;
    card.remove();
    cards.delete(key);
  }
  for (const receipt of receipts) {
    const key = keyOf(receipt);
    if (cards.has(key)) continue;
    const card = receiptCard(receipt, user);
    card.classList.toggle("fresh", !isFirstLook);
    cards.set(key, card);
  }
  // Newest first. A card that keeps its place is not moved, so that it keeps the focus.
  let place = list.firstElementChild;
  for (const card of receipts.map((receipt) => cards.get(keyOf(receipt)))) {
    if (card === place) place = place.nextElementSibling;
    else list.insertBefore(card, place);
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
