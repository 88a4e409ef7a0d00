import { CODE_LENGTH, codeInText, isCode } from "@intermission/ad-core/code";

/** Nearly all requests: a link as it was made, and the paths that programs call. */
const PLAIN = new RegExp(
  `^/(?:[0-9A-Za-z]{0,${CODE_LENGTH}}(?:\\?.*)?|(?:app|client|player|operator|postback|media|log|docs)/.*)$`,
  "s",
);

/** A word without letters or digits around it: the page of a link that lost a letter is the same for both. */
const LONE_WORD = /^[^0-9A-Za-z]*([0-9A-Za-z]{8,64})[^0-9A-Za-z]*$/;

/**
 * Where trackers, mail programs and markup begin their additions; `&` also begins `&amp;`. Behind a word they also begin with a
 * blank, a quotation mark or what closes a bracket: a whole address may follow, as in `[…](…)` and `<…|…>`.
 */
const ADDITIONS = /[?#&;<].*$|(?<=[0-9A-Za-z])[ \t\r\n"'|)\]}>].*$/s;

/** Characters of a path in which a code is looked for. */
const MAX_LENGTH = 300;

/** Percent signs, with the bytes that follow them. */
const ESCAPES = /(?:%[0-9a-f]{2})+|%/gi;

/**
 * The address of a direct link as it was made, for one as people send it: with a slash, a full stop, a bracket or a blank
 * behind the code, with doubled slashes, invisible characters, a percent sign that begins no character, or a query whose
 * question mark was encoded. Other addresses stay as they are; but if a percent sign begins no character, all are encoded, so
 * that the address leads nowhere (404) instead of being malformed (400).
 */
export function linkAddress(address: string): string {
  if (PLAIN.test(address)) return address;
  const [path = ""] = address.split("?", 1);
  if (decoded(path) !== undefined) return codeAddress(path) ?? address;
  const encoded = path.replaceAll("%", "%25");
  // In `%` directly before a code, the code's first two letters look like an encoded byte.
  const beside = codeAddress(encoded);
  if (beside !== undefined && isCode(beside.slice(1))) return beside;
  return codeAddress(path) ?? beside ?? encoded + address.slice(path.length);
}

/** The address of the only word of a path, if it is a code, or a word without letters or digits around it. */
function codeAddress(path: string): string | undefined {
  const text = path.slice(0, MAX_LENGTH).replace(ESCAPES, (escapes) => decoded(escapes) ?? "\ufffd");
  const words = text
    .replace(ADDITIONS, "")
    .split("/")
    .filter((part) => /[0-9A-Za-z]/.test(part));
  const [word = ""] = words;
  const code = words.length === 1 ? (codeInText(word) ?? LONE_WORD.exec(word)?.[1]) : undefined;
  return code === undefined ? undefined : `/${code}`;
}

/** Undefined for bytes that are no UTF-8. */
function decoded(escapes: string): string | undefined {
  if (escapes === "%") return undefined;
  try {
    return decodeURIComponent(escapes);
  } catch {
    return undefined;
  }
}
