import { sign, signStandardWebhook } from "@intermission/ad-core/signature";

/** Returns a random whole number from 0 to below `bound`; the test provides the source of randomness. */
export type Chance = (bound: number) => number;

/** A webhook as the verifier receives it. Headers may have any type that a server makes of them. */
interface ReceivedWebhook {
  headers: Record<string, unknown>;
  body: Uint8Array;
  tokens: string[];
  /** Unix seconds. */
  now: number;
}

/** The expected verdicts. They follow from what was changed, so no second verifier is needed. */
interface Forgery {
  received: ReceivedWebhook;
  isXSignatureGenuine: boolean;
  isStandardGenuine: boolean;
}

const TOLERANCE_SECONDS = 300;
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_,. ";
const invisible = ["\u200b", "\u00a0", "\ufeff", "\u0301", "\0", "\n", "\r\n", "\t", " ", "\u2028"];
const lookAlikes = ["aа", "cс", "eе", "oо", "pр", "xх", "sſ", "KK", "0０", "1１", "1١", "=＝", "-‐", ".․", ",，", "vν"];

/** Signs a webhook and changes something, mostly one thing: a header, the body, the tokens or the clock. */
export function forgeWebhook(chance: Chance): Forgery {
  const signedWith = ["ad_active", "ad_next"].slice(0, 1 + chance(2)).map((token) => token + randomText(chance, 6));
  const timestampSeconds = 1_767_323_045 + chance(1000);
  const body = Buffer.from(`{"event":"rewarded","event_id":"evt_${chance(9)}","user_tg_id":"${chance(1e6)}"}`);
  const headers = {
    "x-signature": sign(body, signedWith[0] ?? ""),
    ...signStandardWebhook({ id: `evt_${randomDigits(chance)}`, timestampSeconds, body, tokens: signedWith }),
  };
  const genuine: ReceivedWebhook = { headers, body, tokens: signedWith, now: timestampSeconds };
  const received = changeWebhook(genuine, chance);
  return { received, ...judge(genuine, received) };
}

function judge(genuine: ReceivedWebhook, received: ReceivedWebhook): Omit<Forgery, "received"> {
  const isKept = (name: string) => received.headers[name] === genuine.headers[name];
  const isBodyKept = Buffer.compare(genuine.body, received.body) === 0;
  // HMAC pads a short key with zero bytes, so a token with additional zero bytes at its end is the same key.
  const keyOf = (token: string) => token.replace(/\0+$/, "");
  const keys = received.tokens.map(keyOf);
  const isKnown = (index: number) => keys.includes(genuine.tokens[index] ?? "");
  const list = received.headers["webhook-signature"];
  const entries = typeof list === "string" ? list.split(" ") : [];
  const isListed = String(genuine.headers["webhook-signature"])
    .split(" ")
    .some((signature, index) => entries.includes(signature) && isKnown(index));
  const isFresh = Math.abs(received.now - Number(received.headers["webhook-timestamp"])) <= TOLERANCE_SECONDS;
  return {
    isXSignatureGenuine: isBodyKept && isKept("x-signature") && isKnown(0),
    isStandardGenuine: isBodyKept && isKept("webhook-id") && isKept("webhook-timestamp") && isListed && isFresh,
  };
}

function changeWebhook(genuine: ReceivedWebhook, chance: Chance): ReceivedWebhook {
  const received = { ...genuine, headers: { ...genuine.headers } };
  const names = Object.keys(received.headers);
  for (let changes = chance(8) === 0 ? 3 : 1; changes > 0; changes -= 1) {
    const what = chance(10);
    if (what === 0) received.body = changeBody(received.body, chance);
    else if (what === 1) received.tokens = changeTokens(received.tokens, chance);
    else if (what === 2) received.now += chance(1400) - 700;
    else {
      const name = names[chance(names.length)] ?? "";
      const value = received.headers[name];
      const other = received.headers[names[chance(names.length)] ?? ""];
      // A header that is no longer text is not changed again.
      if (typeof value === "string") received.headers[name] = changeHeader(value, other, chance);
    }
  }
  return received;
}

function changeHeader(text: string, other: unknown, chance: Chance): unknown {
  const changes: (() => unknown)[] = [
    () => undefined,
    () => other,
    () => [text],
    () => [text, text],
    () => ({ toString: () => text }),
    () => `${text}, ${text}`,
    () => `${text},${text}`,
    () => `${text} ${text}`,
    () => text.replace("sha256=", "sha1="),
    () => text.replace("v1,", chance(2) === 0 ? "v2," : "v1a,"),
    () => text.replaceAll("+", "-").replaceAll("/", "_"),
    () => text.replaceAll("=", ""),
    () => respellLastLetter(text, chance),
    () => randomText(chance, text.length),
  ];
  const index = chance(2 * changes.length);
  return (changes[index] ?? (() => changeText(text, chance)))();
}

function changeText(text: string, chance: Chance): string {
  const at = chance(text.length + 1);
  const [before, letter, after] = [text.slice(0, at), text.slice(at, at + 1), text.slice(at + 1)];
  const look = lookAlikes.filter((pair) => pair[0] === letter);
  const changes = [
    () => before + String.fromCharCode((letter.charCodeAt(0) || 0) ^ (1 << chance(8))) + after,
    () => before,
    () => letter + after,
    () => before + after,
    () => text.toUpperCase(),
    () => text.toLowerCase(),
    () => before + (letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase()) + after,
    () => before + (look[chance(look.length || 1)]?.slice(1) ?? fullWidth(letter)) + after,
    () => before + (invisible[chance(invisible.length)] ?? "") + letter + after,
    () => before + (letters[chance(letters.length)] ?? "") + after,
  ];
  return (changes[chance(changes.length)] ?? (() => text))();
}

function changeBody(body: Uint8Array, chance: Chance): Uint8Array {
  const at = chance(body.length || 1);
  const changes = [
    () => body.map((byte, index) => (index === at ? byte ^ (1 << chance(8)) : byte)),
    () => body.subarray(0, at),
    () => body.subarray(at),
    () => Buffer.concat([body, Buffer.from("\n")]),
    () => Buffer.concat([Buffer.from("\ufeff"), body]),
    () => Buffer.concat([body, body]),
    () => Buffer.from(Buffer.from(body).toString("latin1").replaceAll(":", ": "), "latin1"),
    () => Uint8Array.from({ length: chance(40) }, () => chance(256)),
  ];
  return (changes[chance(changes.length)] ?? (() => body))();
}

function changeTokens(tokens: string[], chance: Chance): string[] {
  const [first = "", ...others] = tokens;
  const changes = [
    () => [],
    () => [""],
    () => others,
    () => ["", ...tokens],
    () => [randomText(chance, first.length)],
    () => [changeText(first, chance), ...others],
    () => tokens.toReversed(),
    () => [randomText(chance, 12), ...tokens],
  ];
  return (changes[chance(changes.length)] ?? (() => tokens))();
}

/** Changes the last letter before the padding, whose unused bits a lenient decoder ignores. */
function respellLastLetter(text: string, chance: Chance): string {
  return text.replace(/[A-Za-z0-9+/](?==*$)/, () => letters[chance(64)] ?? "");
}

function fullWidth(letter: string): string {
  const code = letter.charCodeAt(0);
  return code > 0x20 && code < 0x7f ? String.fromCharCode(code + 0xfee0) : "\u3000";
}

function randomText(chance: Chance, length: number): string {
  return Array.from({ length }, () => letters[chance(64)]).join("");
}

function randomDigits(chance: Chance): string {
  return String(chance(1e9));
}
