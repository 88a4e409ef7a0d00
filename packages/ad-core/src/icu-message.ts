/**
 * Messages of the catalogs of words, in ICU MessageFormat: `{name}`, `{count, number}`, `{count, plural, one {# bot} other {# bots}}`
 * and `{state, select, open {…} other {…}}`. An apostrophe before a brace quotes it.
 */

/** What stands in a message for a value. */
export interface Placeholder {
  readonly value: string;
  readonly kind: "text" | "number" | "plural" | "select";
  /** Of a plural and a select: what is said for each case. `other` is one of them. */
  readonly cases: ReadonlyMap<string, Message>;
}

/** In the text of a case of a plural: its number. */
const NUMBER_SIGN: Placeholder = { value: "#", kind: "number", cases: new Map() };

export type Message = readonly (string | Placeholder)[];

export type MessageValue = string | number | boolean;

/** Throws a `SyntaxError` that says what is wrong, and after which part of the text. */
export function readMessage(text: string): Message {
  let at = 0;
  const fail = (what: string) =>
    new SyntaxError(`${what} after ${JSON.stringify(text.slice(Math.max(0, at - 30), at))} of ${JSON.stringify(text)}`);
  const next = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0] ?? "";
    at += found.length;
    return found;
  };
  const needed = (pattern: RegExp, what: string) => next(pattern) || raise(fail(`${what} is missing`));

  /** Up to the end of the text, or to the brace that ends a case. */
  function parts(plural: string | undefined): Message {
    const read: (string | Placeholder)[] = [];
    const add = (part: string | Placeholder) => {
      const last = read.at(-1);
      if (typeof part === "string" && typeof last === "string") read[read.length - 1] = last + part;
      else read.push(part);
    };
    for (;;) {
      const plain = next(/[^'{}#]+/y);
      if (plain !== "") add(plain);
      const sign = text[at];
      if (sign === undefined || sign === "}") return read;
      if (sign === "#") {
        at++;
        add(plural === undefined ? "#" : { ...NUMBER_SIGN, value: plural });
      } else if (sign === "'") {
        const quoted = next(/'(?=[{}#])(?:[^']|'')*'/y);
        if (quoted !== "") add(quoted.slice(1, -1).replaceAll("''", "'"));
        else add(next(/''?/y) && "'");
      } else add(placeholder(plural));
    }
  }

  function placeholder(plural: string | undefined): Placeholder {
    at++;
    const value = needed(/\s*\w+\s*/y, "the name of a value").trim();
    if (next(/\}/y)) return { value, kind: "text", cases: new Map() };
    const kind = needed(/,\s*(number|plural|select)\s*/y, "number, plural or select").replace(/[,\s]/g, "");
    if (kind === "number") {
      needed(/\}/y, "}");
      return { value, kind, cases: new Map() };
    }
    needed(/,\s*/y, "a comma");
    const cases = new Map<string, Message>();
    while (!next(/\}/y)) {
      const name = needed(/(=\d+|[\w-]+)\s*/y, "the name of a case").trim();
      needed(/\{/y, "{");
      cases.set(name, parts(kind === "plural" ? value : plural));
      needed(/\}\s*/y, "}");
    }
    if (!cases.has("other")) throw fail(`the case "other" of ${value} is missing`);
    return { value, kind: kind === "plural" ? kind : "select", cases };
  }

  const message = parts(undefined);
  if (at < text.length) throw fail("a } without its {");
  return message;
}

function raise(error: Error): never {
  throw error;
}

/** How a language counts and writes numbers. */
export interface NumberRules {
  readonly plural: Intl.PluralRules;
  readonly number: Intl.NumberFormat;
}

export function numberRules(language: string): NumberRules {
  return { plural: new Intl.PluralRules(language), number: new Intl.NumberFormat(language) };
}

/** The message with its values. */
export function formatMessage(
  message: Message,
  values: Readonly<Record<string, MessageValue>>,
  rules: NumberRules,
): string {
  return message
    .map((part) => {
      if (typeof part === "string") return part;
      const value = values[part.value];
      if (value === undefined) throw new Error(`the message has no value ${part.value}`);
      if (part.kind === "text") return String(value);
      if (part.kind === "number") return rules.number.format(Number(value));
      const exact = part.kind === "plural" ? `=${value}` : String(value);
      const chosen =
        part.cases.get(exact) ??
        (part.kind === "plural" ? part.cases.get(rules.plural.select(Number(value))) : undefined) ??
        part.cases.get("other") ??
        [];
      return formatMessage(chosen, values, rules);
    })
    .join("");
}

/** The placeholders of a message, also those in its cases. */
export function placeholdersOf(message: Message): readonly Placeholder[] {
  return message.flatMap((part) =>
    typeof part === "string" ? [] : [part, ...[...part.cases.values()].flatMap(placeholdersOf)],
  );
}
