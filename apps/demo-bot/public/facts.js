import { language, words } from "./words.js";

const byId = (id) => document.getElementById(id);
byId("facts-title").textContent = words.facts;
byId("balance-label").textContent = words.balance;
byId("facts-hint").textContent = words.hint;
byId("webhooks-title").textContent = words.webhooks;
const receipts = byId("receipts");
let shownAs = "";

function line(className, content) {
  const made = document.createElement("p");
  made.className = className;
  made.textContent = content;
  return made;
}

function card(receipt) {
  const item = document.createElement("li");
  item.className = `receipt ${receipt.outcome}`;
  const isSent = receipt.rawBody !== null;
  item.append(line("verdict", `${isSent ? "✓" : "↺"} ${isSent ? words.verified : words.reconciled}`));
  const reason = receipt.reason ? ` · ${receipt.reason}` : "";
  const time = new Date(receipt.receivedAt).toLocaleTimeString(language);
  item.append(line("outcome", `${receipt.event} · ${words[receipt.outcome]}${reason} · ${time}`));
  if (isSent) {
    const raw = document.createElement("pre");
    raw.tabIndex = 0;
    raw.textContent = `X-Signature: ${receipt.signatureHeader}\n\n${receipt.rawBody}`;
    item.append(raw);
  }
  return item;
}

function show(facts) {
  const text = JSON.stringify(facts);
  if (text === shownAs) return;
  shownAs = text;
  if (facts.outcome !== "known") {
    byId("facts-hint").textContent = words.unreachable;
    return;
  }
  byId("facts-hint").textContent = words.hint;
  byId("balance").textContent = new Intl.NumberFormat(language).format(facts.balance);
  receipts.replaceChildren(...(facts.receipts.length > 0 ? facts.receipts.map(card) : [line("hint", words.none)]));
}

/** Looks every two seconds while the page is looked at. */
export function startFacts(user) {
  const look = async () => {
    if (document.visibilityState === "hidden") return;
    try {
      const response = await fetch(`/what-happened/${user}`);
      show(await response.json());
    } catch {
      show({ outcome: "unknown" });
    }
  };
  setInterval(look, 2000);
  look();
}
