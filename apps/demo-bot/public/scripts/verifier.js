import { byId } from "./element.js";
import { signatureOf, withOneByteChanged } from "./hmac.js";
import { words } from "./words.js";

const place = byId("verifier");
const body = byId("verifier-body");
const signature = byId("verifier-signature");
const verdict = byId("verifier-verdict");
let token;
let original;

/** The demo bot's token, without which nothing can be verified here: the panel has none for a bot of one's own. */
export function startVerifier(demoToken) {
  token = demoToken;
  for (const field of [body, signature]) field.addEventListener("input", verify);
  byId("verifier-change").addEventListener("click", () => {
    body.value = withOneByteChanged(body.value);
    verify();
  });
  byId("verifier-restore").addEventListener("click", () => {
    if (original) fill(original);
  });
}

/** Opens the verifier with a webhook as it arrived. */
export function openVerifier(webhook) {
  original = webhook;
  fill(webhook);
  place.open = true;
  body.focus();
  place.scrollIntoView({ block: "nearest" });
}

/** Fills the verifier with the first webhook, so that it never stands there empty. */
export function offerToVerifier(webhook) {
  if (original !== undefined || token === undefined) return;
  original = webhook;
  place.hidden = false;
  fill(webhook);
}

function fill(webhook) {
  body.value = webhook.body;
  signature.value = webhook.signature;
  verify();
}

async function verify() {
  const [text, signatureText] = [body.value, signature.value];
  const isValid = (await signatureOf(text, token)) === signatureText;
  // A later keystroke has its own answer.
  if (text !== body.value || signatureText !== signature.value) return;
  verdict.textContent = isValid ? words.verifierValid : words.verifierInvalid;
  verdict.classList.toggle("valid", isValid);
  verdict.classList.toggle("invalid", !isValid);
}
