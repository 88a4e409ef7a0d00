import { type AdviceCode, byClass, type byCloudflare, type byIntermediary, byStatus } from "./publisher-advice.ts";
import { warningOfAnswer } from "./receiver-warning.ts";
import { tlsFaultOf } from "./tls-fault.ts";
import type { RequestErrorClass } from "./wire-fields.ts";

/** An endpoint's answer to one attempt, or why there is none. */
export interface AttemptAnswer {
  readonly status: number | null;
  readonly errorClass: string | null;
  /** The beginning of the answer. */
  readonly text: string | null;
}

/** Undefined when all is well. */
export function adviceCodeOf({ status, errorClass, text }: AttemptAnswer): AdviceCode | undefined {
  // Not a redirect, though of their class: nothing of ours is conditional.
  if (status === 304) return "not-modified";
  if (errorClass === "tls") return tlsFaultOf(text ?? "") ?? "tls";
  if (errorClass !== null) return isErrorClass(errorClass) ? errorClass : "no-answer";
  if (status === null) return "unknown";
  const intermediary = intermediaryOf(status, text ?? "");
  if (intermediary !== undefined) return intermediary;
  if (status >= 200 && status <= 299) return warningOfAnswer({ text });
  if (/"code"\s*:\s*"NOT_CONFIGURED"/.test(text ?? "")) return "not-configured";
  const code = String(status);
  if (isAdvisedStatus(code)) return code;
  const ofCloudflare = cloudflareStatuses[status];
  if (ofCloudflare !== undefined) return ofCloudflare;
  return status >= 500 ? "failed-status" : "refused-status";
}

const cloudflareStatuses: Readonly<Record<number, keyof typeof byCloudflare>> = {
  520: "cloudflare-no-answer",
  521: "cloudflare-no-answer",
  522: "cloudflare-no-answer",
  523: "cloudflare-no-answer",
  524: "cloudflare-no-answer",
  525: "cloudflare-certificate",
  526: "cloudflare-certificate",
  530: "cloudflare-no-way",
};

/** By the error codes on pages of ngrok: its other ones are limits and rules of an account. */
const ngrokErrors: Readonly<Record<string, keyof typeof byIntermediary>> = {
  3200: "ngrok-offline",
  8012: "ngrok-without-upstream",
  3004: "ngrok-without-upstream",
};
/** By the error codes on pages of Cloudflare, and of its answers to programs. */
const cloudflareErrors: Readonly<Record<string, keyof typeof byIntermediary>> = {
  1016: "cloudflare-name",
  1033: "cloudflare-tunnel-down",
  502: "cloudflare-without-upstream",
};

/** Who answered in place of the receiver, as its page or the headers before it say; undefined: no sign of anyone. */
function intermediaryOf(status: number, text: string): keyof typeof byIntermediary | undefined {
  const [, ngrok] = /\bERR_NGROK_(\d+)/.exec(text) ?? [];
  if (ngrok !== undefined) return ngrokErrors[ngrok] ?? "ngrok-refused";
  if (status < 400) return undefined;
  if (status === 401 && /^www-authenticate:/i.test(text)) return "login-wanted";
  if (/^cf-mitigated:/i.test(text)) return "cloudflare-blocks";
  if (/\btunnel (unavailable|not found|offline)\b/i.test(text)) return "tunnel-down";
  const isCloudflare = /cloudflare|^\s*error code: \d+\s*$/i.test(text);
  if (!isCloudflare) return undefined;
  const [, error] = /\berror(?: code)?:?(?:<[^>]*>|\s)*(\d{3,4})\b/i.exec(text) ?? [];
  const known = cloudflareErrors[error ?? String(status)];
  if (known !== undefined) return known;
  if (status === 502) return "cloudflare-without-upstream";
  return status === 403 || /^10(0\d|1[0-5]|20)$/.test(error ?? "") ? "cloudflare-blocks" : undefined;
}

/** Those to which the receiver's own words add something. */
const isExplained: ReadonlySet<AdviceCode> = new Set<AdviceCode>([
  "400",
  "401",
  "403",
  "503",
  "failed-status",
  "refused-status",
  "not-configured",
  "negative-answer",
]);

/** The receiver's own words, where they say more than its status; undefined: it has none. They may be anyone's. */
export function explainedBy({ text }: AttemptAnswer, code: AdviceCode): string | undefined {
  return isExplained.has(code) && text !== null ? ownWords(text) : undefined;
}

const MAX_WORDS = 160;

/** The message of an error in JSON, the title of a page, or the first line of a short text. */
function ownWords(text: string): string | undefined {
  const said = /^\s*[{[]/.test(text) ? messageOf(text) : (/<title[^>]*>([^<]*)/i.exec(text)?.[1] ?? firstLine(text));
  const words = said
    ?.replace(/[\p{Cc}\p{Cf}"]+/gu, " ")
    .replace(/\s+/g, " ")
    .trim();
  if (!words) return undefined;
  const characters = [...words];
  return characters.length <= MAX_WORDS ? words : `${characters.slice(0, MAX_WORDS - 1).join("")}…`;
}

function firstLine(text: string): string | undefined {
  const [line = ""] = text.trim().split(/\r?\n/, 1);
  return line.startsWith("<") ? undefined : line;
}

function messageOf(text: string): string | undefined {
  try {
    const answer: unknown = JSON.parse(text);
    const { error, detail, data, result } = Object(answer);
    const facts = { ...Object(answer), ...Object(data), ...Object(result), ...Object(detail), ...Object(error) };
    const message = [facts.message, facts.msg, facts.error, facts.detail, facts.reason, facts.title].find(isText);
    const parts = [facts.code, message].filter(isText);
    return parts.length === 0 ? undefined : parts.join(": ");
  } catch {
    return undefined;
  }
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isAdvisedStatus(code: string): code is `${keyof typeof byStatus}` {
  return Object.hasOwn(byStatus, code);
}

/** One of `RequestErrorClass`: logs may hold those of other versions. */
function isErrorClass(text: string): text is RequestErrorClass {
  return Object.hasOwn(byClass, text);
}
