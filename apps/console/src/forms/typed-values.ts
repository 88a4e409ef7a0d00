import { amountOf } from "@intermission/operator-api/amounts";
import type { RewardUnit } from "@intermission/operator-api/bots";
import type { LocalText } from "../operator/local-text.ts";
import { readLocalTime, toLocalInput } from "../ui/local-time.ts";
import { readTypedAmount } from "../ui/typed-amount.ts";
import { faultOfAmount } from "../ui/typed-faults.ts";
import { uiWords } from "../ui/words.ts";
import type { Language } from "../words/languages.ts";
import type { FormField } from "./form-fields.ts";
import { formWords } from "./words.ts";

/** What a control holds: text as it is typed, whether a box is checked, or what is chosen from a list. */
export type Typed = string | boolean | readonly string[];

/** What the control of a field holds of a stored value. */
export function typedOf({ kind }: FormField, stored: unknown): Typed {
  switch (kind) {
    case "flag":
      return stored === true;
    case "either":
      return typeof stored === "boolean" ? (stored ? "yes" : "no") : "";
    case "choices":
    case "languages":
    case "countries":
    case "bots":
    case "videos":
    case "hours":
    case "weekdays":
      return listOf(stored).toSorted();
    case "words":
      return listOf(stored).join(", ");
    case "lines":
      return listOf(stored).join("\n");
    case "price":
    case "budget":
    case "payment":
      return typeof stored === "number" && stored !== 0 ? amountOf(stored) : "";
    case "moment":
      return stored instanceof Date ? toLocalInput(stored) : "";
    case "rewardUnit":
      // The schema of the answer has checked it.
      return linesOfUnit((stored ?? {}) as RewardUnit);
    case "text":
    case "whole":
    case "seconds":
    case "choice":
    case "address":
    case "email":
    case "timeZone":
    case "username":
    case "word":
      return String(stored ?? "");
    default:
      return kind satisfies never;
  }
}

function listOf(stored: unknown): string[] {
  return Array.isArray(stored) ? stored.map(String) : [];
}

/** Whether two controls hold the same; of a list, in any order. */
export function isSame(one: Typed | undefined, other: Typed | undefined): boolean {
  const text = (typed: Typed | undefined) => JSON.stringify(Array.isArray(typed) ? typed.toSorted() : typed);
  return text(one) === text(other);
}

export function isEmpty(typed: Typed | undefined): boolean {
  if (typed === undefined || typeof typed === "boolean") return typed !== true;
  return typeof typed === "string" ? typed.trim() === "" : typed.length === 0;
}

export type TypedReading = { outcome: "value"; value: unknown } | { outcome: "refused"; fault: LocalText };

const value = (read: unknown): TypedReading => ({ outcome: "value", value: read });

/** Reads a control as the value of a request; undefined is left out. Its schema checks it afterwards. */
export async function readTyped(field: FormField, typed: Typed, language: Language): Promise<TypedReading> {
  if (typeof typed === "boolean") return value(typed);
  if (isEmpty(typed)) return value(emptyValue(field));
  if (typeof typed !== "string") {
    const isNumbers = field.kind === "hours" || field.kind === "weekdays";
    return value(isNumbers ? typed.map(Number).toSorted((one, other) => one - other) : typed);
  }
  const text = typed.trim();
  switch (field.kind) {
    case "price":
    case "budget":
    case "payment": {
      const read = readTypedAmount(text, { kind: field.kind, language });
      return read.outcome === "amount" ? value(read.micros) : { outcome: "refused", fault: await faultOfAmount(read) };
    }
    case "moment": {
      const read = readLocalTime(text);
      if (read !== undefined) return value(read.at?.toISOString() ?? null);
      return { outcome: "refused", fault: { in: (shownIn) => uiWords[shownIn].noSuchTime } };
    }
    case "whole":
    case "seconds":
      // NaN, which no schema accepts, for what is no number.
      return value(/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN);
    case "either":
      return value(text === "yes");
    case "words":
      return value(text.split(/[\s,]+/).filter((word) => word !== ""));
    case "lines":
      return value(linesIn(text));
    case "username":
      return value(text.replace(/^@/, ""));
    case "rewardUnit":
      return unitOf(text);
    case "text":
    case "choice":
    case "address":
    case "email":
    case "timeZone":
    case "word":
      return value(text);
    // Their controls hold lists, or whether a box is checked.
    case "flag":
    case "choices":
    case "languages":
    case "countries":
    case "bots":
    case "videos":
    case "hours":
    case "weekdays":
      return value(text);
    default:
      return field.kind satisfies never;
  }
}

/** Of a field that may not be empty: the value that its schema refuses, or that means none. */
function emptyValue({ kind, empty }: FormField): unknown {
  if (empty !== "needed") return empty === "null" ? null : undefined;
  switch (kind) {
    case "price":
      return 0;
    case "whole":
    case "seconds":
      return Number.NaN;
    case "choices":
    case "languages":
    case "countries":
    case "bots":
    case "videos":
    case "words":
    case "lines":
    case "hours":
    case "weekdays":
      return [];
    case "text":
    case "address":
    case "email":
    case "username":
    case "word":
    case "timeZone":
    case "choice":
    case "either":
    case "flag":
    case "moment":
    case "budget":
    case "payment":
    case "rewardUnit":
      return "";
    default:
      return kind satisfies never;
  }
}

function linesIn(text: string): string[] {
  const lines = text.split("\n").map((line) => line.trim());
  return lines.filter((line) => line !== "");
}

function linesOfUnit(unit: RewardUnit): string {
  const lines = Object.entries(unit).map(([language, words]) => {
    const forms = Object.entries(words).map(([category, word]) => `${category}=${word}`);
    return `${language}: ${forms.join(", ")}`;
  });
  return lines.join("\n");
}

/** The words of a reward's unit: a language a line, with a word for each plural form. */
function unitOf(text: string): TypedReading {
  const unit: [string, Record<string, string>][] = [];
  for (const line of linesIn(text)) {
    const [, language = "", list = ""] = /^([A-Za-z-]{2,35})\s*:(.+)$/.exec(line) ?? [];
    const forms = list.split(",").map((form) => /^\s*([a-z]+)\s*=\s*(\S.*?)\s*$/.exec(form) ?? []);
    if (forms.some(([whole]) => whole === undefined)) {
      const shown = line.slice(0, 60);
      return { outcome: "refused", fault: { in: (shownIn) => formWords[shownIn].unitLine(shown) } };
    }
    unit.push([language, Object.fromEntries(forms.map(([, category = "", word = ""]) => [category, word]))]);
  }
  return value(Object.fromEntries(unit));
}
