import type { ReceiverWarning } from "./client-words.ts";

export type AnswerWarning = Exclude<ReceiverWarning, "wrong-signature-accepted">;

const MARKUP_FIRST =
  /^(<!--[\s\S]{0,1000}?-->|\s)*<(!doctype\s|html|head|body|title|meta|script|style|div|center|main|h[1-6]|p|br|b)\b/i;
const MARKUP = /<[a-z!/][^<>]*>/i;
/** PHP and `response.send("ok")` of Express claim it for every text, so that markup must be there, too. */
const HTML_TYPE = /^\s*(text\/html|application\/xhtml\+xml)\b/i;
const JSON_FIRST = /^\s*[{["]/;
const NEGATIVE_BEGINNINGS = [
  "(an? |internal )?(server )?(error|exception)",
  "fatal",
  "invalid",
  "(bad|wrong|missing|no|unknown) (request|signature|token|header)",
  "unauthori[sz]ed",
  "forbidden",
  "(access |permission )?denied",
  "not (found|authori[sz]ed|authenticated|allowed|implemented)",
  "failed",
  "failure",
  "(could|can|did) ?not",
  "unable to",
  "signature (is |was |check |verification |does )?(not|invalid|mismatch|missing|wrong|failed)",
];
const NEGATIVE_WORDS = new RegExp(`^\\s*"?(${NEGATIVE_BEGINNINGS.join("|")})\\b`, "i");

/** What is wrong with the answer of a receiver that answered 2xx; undefined: nothing. `text`: its beginning. */
export function warningOfAnswer({
  text,
  contentType,
}: {
  readonly text: string | null;
  readonly contentType?: string | null | undefined;
}): AnswerWarning | undefined {
  const content = (text ?? "").replace(/^\uFEFF/, "");
  if (JSON_FIRST.test(content)) return isNegative(parsed(content), 0) ? "negative-answer" : undefined;
  if (MARKUP_FIRST.test(content) || (HTML_TYPE.test(contentType ?? "") && MARKUP.test(content))) return "html-answer";
  return NEGATIVE_WORDS.test(content) || /^\s*(false|no)\s*$/i.test(content) ? "negative-answer" : undefined;
}

/** Undefined also for the beginning of a longer answer. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const NEGATIVE_STATUS =
  /^(err|fail|ko|nok|not[ _-]?ok|((error|failed|failure|denied|rejected|refused|invalid|unauthori[sz]ed|forbidden|(bad|wrong|missing)[ _-](request|signature|token|header)|not[ _-]?(found|authori[sz]ed))([ _-].*)?))$/i;

/** Members that say how it went, by their names in lower case. */
const negativeMembers: Readonly<Record<string, (value: unknown, depth: number) => boolean>> = {
  ok: isNo,
  success: isNo,
  succeeded: isNo,
  successful: isNo,
  accepted: isNo,
  received: isNo,
  valid: isNo,
  verified: isNo,
  authorized: isNo,
  authenticated: isNo,
  result: (value, depth) => isNegativeWord(value) || isNegative(value, depth),
  data: isNegative,
  response: isNegative,
  status: (value, depth) => isNegativeWord(value) || isNegativeStatus(value) || isNegative(value, depth),
  statuscode: isNegativeStatus,
  code: (value) => isNegativeWord(value) || isNegativeStatus(value),
  message: isNegativeSentence,
  msg: isNegativeSentence,
  detail: isNegativeSentence,
  reason: isNegativeSentence,
  error: isSomething,
  errors: isSomething,
  exception: isSomething,
};

/** Answers are in envelopes at times: `{"data":[{"ok":false}]}`. */
const MAX_DEPTH = 3;

function isNegative(answer: unknown, depth: number): boolean {
  if (typeof answer === "string") return isNegativeSentence(answer);
  if (typeof answer !== "object" || answer === null || depth > MAX_DEPTH) return false;
  if (Array.isArray(answer)) return answer.some((one) => isNegative(one, depth + 1));
  return Object.entries(answer).some(([name, value]) => {
    const key = name.toLowerCase();
    return Object.hasOwn(negativeMembers, key) && negativeMembers[key]?.(value, depth + 1) === true;
  });
}

function isNegativeSentence(value: unknown): boolean {
  return typeof value === "string" && NEGATIVE_WORDS.test(value);
}

function isNo(value: unknown): boolean {
  return value === false || value === 0 || (typeof value === "string" && /^(false|no|0)$/i.test(value));
}

function isNegativeWord(value: unknown): boolean {
  return value === false || (typeof value === "string" && NEGATIVE_STATUS.test(value));
}

function isNegativeStatus(value: unknown): boolean {
  const status = typeof value === "string" && /^[45]\d\d$/.test(value) ? Number(value) : value;
  return typeof status === "number" && status >= 400 && status <= 599;
}

/** Anything but the values by which libraries say that there is no error. */
function isSomething(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === "object") return value !== null && Object.keys(value).length > 0;
  return value !== undefined && value !== false && value !== 0 && !/^(|0|no|none|false|null|ok)$/i.test(String(value));
}
