import type { RequestErrorClass } from "@intermission/ad-core/wire-fields";
import type { VastReason } from "@intermission/operator-api/vast-reasons";
import { loadWords, type Sayable, sayWith, type ValueNames } from "../words/catalog.ts";
import { errorClassWords } from "../words/error-class-words.ts";
import type { Language } from "../words/languages.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

/** Whether the detail is what another program said: of the others it is a sentence of this service's, in English. */
const isQuoted: Readonly<Record<RequestErrorClass, boolean>> = {
  dns: true,
  refused: true,
  reset: true,
  tls: true,
  "timeout-connect": false,
  "timeout-total": false,
  "blocked-address": false,
  redirect: false,
  protocol: true,
  "too-large": false,
};

type Kind = VastReason["kind"];
/** Those whose message has the values of the reason itself, or units made of them. */
type PlainKind = Exclude<Kind, "no-answer" | "companion-required">;

const vastReasonWords = loadWords("vastReasons") satisfies Record<
  Language,
  Record<PlainKind, Sayable> & Record<"companions", Record<"all" | "any", string>>
>;

type UnitName<Field> = Field extends "maxBytes" ? "kib" | "mib" : Field extends "milliseconds" ? "seconds" : never;
type FieldOf<One extends Kind> = keyof Extract<VastReason, { kind: One }>;
/** The values that a message has and its reason does not. */
type UnknownValues = {
  [One in PlainKind]: Exclude<ValueNames<`vastReasons.${One}`>, FieldOf<One> | UnitName<FieldOf<One>>>;
}[PlainKind];

/** Why a request of a tag, or the tag, led to no ad. */
export function vastReasonText(language: Language, reason: VastReason): string {
  const words = vastReasonWords[language];
  if (reason.kind === "companion-required") return words.companions[reason.required];
  if (reason.kind === "no-answer") {
    const error = errorClassWords[language][reason.errorClass];
    return isQuoted[reason.errorClass] ? words["no-answer"]({ error, detail: reason.detail }) : error;
  }
  const { kind, ...values } = reason;
  const units = {
    ...("maxBytes" in reason && { kib: reason.maxBytes / KIB, mib: reason.maxBytes / MIB }),
    ...("milliseconds" in reason && { seconds: reason.milliseconds / 1000 }),
    ...("status" in reason && { status: `${reason.status}` }),
  };
  return sayWith<UnknownValues>(words[kind], { ...values, ...units });
}
