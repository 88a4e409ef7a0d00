import { type AmountFault, withPoint } from "@intermission/operator-api/amounts";
import { durationText } from "@intermission/operator-api/duration-text";
import { faultOfIssue } from "@intermission/operator-api/fault-of-issue";
import { type FieldFaultCode, type FieldFaultValues, fieldFaults } from "@intermission/operator-api/field-faults";
import type { FileFaultCode, FileWord } from "@intermission/operator-api/file-faults";
import type { z } from "zod";
import { loadWords, type Sayable, sayWith, type ValueNames } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";
import { unitWords } from "../words/unit-words.ts";
import { asReceived, type LocalText } from "./local-text.ts";

type OwnCode = Exclude<FieldFaultCode, FileFaultCode>;

/** What is wrong with a field. A fault without a sentence does not compile. */
const faultWords = loadWords("faults") satisfies Record<Language, Record<OwnCode, Sayable>>;
const fileFaultWords = loadWords("fileFaults") satisfies Record<Language, Record<FileFaultCode, Sayable>>;

/** How to write an amount; `write`: the amount that is meant, where that is clear. */
const amountHints = loadWords("amountFaults") satisfies Record<Language, Record<AmountFault, Sayable>>;

/** What a file is instead of a video, and other words of the server in its sentences. Names, as of a codec, stay as they are. */
const fileWords = loadWords("fileWords") satisfies Record<Language, Record<FileWord, string>>;

type Values = Readonly<Record<string, string>>;

/** Also whether a value is empty: `similarKnown` of `similar`. */
type Derived<Code extends FieldFaultCode> =
  | keyof FieldFaultValues<Code>
  | `${Extract<keyof FieldFaultValues<Code>, string>}Known`
  | (Code extends "AMOUNT"
      ? "hint"
      : Code extends "VIDEO_SECONDS"
        ? "duration"
        : Code extends "FILE_TOO_LARGE"
          ? "size"
          : never);

/** The values that a sentence has and its fault does not. */
type UnknownValues = {
  [Code in FieldFaultCode]: Exclude<
    ValueNames<`${Code extends OwnCode ? "faults" : "fileFaults"}.${Code}`>,
    Derived<Code>
  >;
}[FieldFaultCode];

/** Undefined: this version knows no such fault, or it lacks a value; then the server's message is shown. */
export function faultText({ code, values }: { code: string; values: Values }): LocalText | undefined {
  if (!isFault(code) || fieldFaults[code].some((name) => values[name] === undefined)) return undefined;
  return {
    in: (language) => {
      const texts = { ...faultWords[language], ...fileFaultWords[language] };
      return sayWith<UnknownValues>(texts[code], derivedValues(language, values));
    },
  };
}

function derivedValues(language: Language, values: Values): Values {
  const words: Readonly<Record<string, string>> = fileWords[language];
  const entries = Object.entries(values).flatMap(([name, value]) => [
    [name, Object.hasOwn(words, value) ? words[value] : value],
    [`${name}Known`, value === "" ? "no" : "yes"],
  ]);
  const units = unitWords[language];
  const { fault = "", write = "", seconds = "", max = "" } = values;
  return {
    ...Object.fromEntries(entries),
    hint: amountHint(language, fault, write),
    duration: durationText(Number(seconds), units),
    size: max.replace("KiB", units.KiB).replace("MiB", units.MiB),
  };
}

function amountHint(language: Language, fault: string, write: string): string {
  const hints = amountHints[language];
  // The server may be newer, and know a fault more.
  if (!Object.hasOwn(hints, fault)) return "";
  const values = { write, decimal: withPoint(write), writeKnown: write === "" ? "no" : "yes" };
  return sayWith(hints[fault as AmountFault], values);
}

function isFault(code: string): code is FieldFaultCode {
  return Object.hasOwn(fieldFaults, code);
}

/** The faults of a request that its schema refuses, by field; undefined for one that it accepts. */
export function faultsOfBody(schema: z.ZodType, body: unknown): Readonly<Record<string, LocalText>> | undefined {
  const issues = schema.safeParse(body, { reportInput: true }).error?.issues;
  return (
    issues &&
    Object.fromEntries(
      issues.map((issue) => {
        const fault = faultOfIssue(issue);
        const names = issue.path.filter((part) => typeof part === "string");
        return [names.join("."), (fault && faultText(fault)) ?? asReceived(issue.message)];
      }),
    )
  );
}
