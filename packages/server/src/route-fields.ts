import { TELEGRAM_ID } from "@intermission/ad-core/wire-fields";
import type { AmountKind } from "@intermission/operator-api/amounts";
import { type OperatorRoute, type RequestPart, requestParts } from "@intermission/operator-api/route";
import { Argument, type Command, Option } from "commander";
import { z } from "zod";
import {
  amountOption,
  collect,
  momentOption,
  pastMomentOption,
  telegramIdOption,
  wholeNumber,
} from "./command-options.ts";

/** A field of a request, which a command takes as an argument or as an option. */
export interface RouteField {
  readonly name: string;
  readonly place: RequestPart;
  /** The object in the body that has it, as `targeting`. */
  readonly parent?: string;
  /** Without what says that it may be absent or null. */
  readonly schema: z.ZodType;
  readonly isRequired: boolean;
  readonly isNullable: boolean;
  readonly usual: unknown;
  readonly description: string | undefined;
}

/** What a command says of a field beyond its schema; a text alone is the help. */
export type FieldWords =
  | string
  | {
      readonly text?: string;
      /** Without the dashes, where it is not the field's name. */
      readonly flag?: string;
      /** In the help: `url` is shown as `<url>`. */
      readonly value?: string;
      /** An option without a value: its presence is `true`. */
      readonly isFlag?: true;
      readonly isRequired?: boolean;
      readonly usual?: unknown;
      /** Of the text, and of what an earlier occurrence returned. */
      readonly parse?: (text: string, earlier?: never) => unknown;
      /** The example of an argument in the help. */
      readonly example?: string;
    };

type Detailed = Exclude<FieldWords, string>;

/** Fields that many commands have, and their words. */
const sharedWords: Readonly<Record<string, Detailed>> = {
  botId: { text: "Telegram id of the bot", example: "7000000001" },
  userId: { text: "Telegram id of the user", example: "100000001" },
  campaignId: { text: "as shown by campaigns list", example: "cmp_8fJ2kLm4Qr9T" },
  creativeId: { text: "as shown by creatives list", example: "cre_0a1b2c3d4e5f60718293a4b5" },
  buyerId: { text: "as shown by buyers list", example: "buy_8fJ2kLm4Qr9T" },
  personId: { text: "as shown by people list", example: "per_8fJ2kLm4Qr9T" },
  tokenId: { text: "as shown by bots show", example: "tok_8fJ2kLm4Qr9T" },
  requestId: { text: "as shown by money requests", example: "mrq_8fJ2kLm4Qr9T" },
  savedReportId: { text: "as shown by reports list", example: "rep_8fJ2kLm4Qr9T" },
  heldId: { text: "as shown by money held", example: "hld_8fJ2kLm4Qr9T" },
  advertiser: { text: "its id, or its name in any case", example: "'The Shop'" },
  amountMicros: { text: "in the currency of the deployment", example: "12.50" },
  from: { text: "such as 2026-03-01 or 2h" },
  to: { text: "the end, exclusive" },
  before: { text: "continue where an earlier list ended", value: "id" },
  after: { text: "continue where an earlier list ended", value: "cursor" },
  limit: { text: "at most this many, up to 1000" },
};

/** The value that clears a setting. Commander turns an empty text into null. */
const NONE = Symbol("none");

/** The fields of a request, those of an object in its body by themselves. */
export function fieldsOf(route: OperatorRoute): RouteField[] {
  return requestParts.flatMap((place) => fieldsIn(place, route[place]));
}

function fieldsIn(place: RequestPart, schema: unknown, parent?: string): RouteField[] {
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape).flatMap(([name, of]) => {
    const field = readField(name, place, of as z.ZodType);
    if (field.schema instanceof z.ZodObject) return fieldsIn(place, field.schema, name);
    return [parent === undefined ? field : { ...field, parent, isRequired: false }];
  });
}

function readField(name: string, place: RequestPart, whole: z.ZodType): RouteField {
  let schema = whole;
  let { description } = whole;
  let [isRequired, isNullable, usual] = [true, false, undefined as unknown];
  for (;;) {
    description ??= schema.description;
    if (schema instanceof z.ZodDefault) usual = schema.def.defaultValue;
    if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) isRequired = false;
    if (schema instanceof z.ZodNullable) isNullable = true;
    if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable) {
      schema = schema.unwrap() as z.ZodType;
    } else if (schema instanceof z.ZodPipe) {
      schema = (schema.out instanceof z.ZodBoolean ? schema.out : schema.in) as z.ZodType;
    } else return { name, place, schema, isRequired, isNullable, usual, description };
  }
}

function detailed(field: RouteField, words: FieldWords | undefined): Detailed {
  const own = typeof words === "string" ? { text: words } : words;
  const described = field.description === undefined ? {} : { text: field.description };
  return { ...described, ...sharedWords[field.name], ...own };
}

interface ValueKind {
  readonly value: string;
  readonly choices?: readonly string[];
  readonly parse?: (text: string) => unknown;
}

const pastMoments = new Set(["from", "to", "since"]);

/** How a value is written, by its schema and by the unit in its name. */
function kindOf(name: string, schema: z.ZodType): ValueKind {
  const value = kebab(name).split("-").at(-1) ?? name;
  if (schema instanceof z.ZodEnum) return { value, choices: schema.options.map(String) };
  if (schema instanceof z.ZodBoolean)
    return { value: "answer", choices: ["yes", "no"], parse: (text) => text === "yes" };
  if (schema instanceof z.ZodNumber) {
    if (name.endsWith("Micros")) return { value: "amount", parse: amountOption(amountKind(name)) };
    return { value: name.endsWith("Seconds") ? "seconds" : "number", parse: wholeNumber };
  }
  if (isTelegramId(schema)) return { value: "id", parse: telegramIdOption };
  if (pastMoments.has(name)) return { value: "moment", parse: pastMomentOption };
  if (name.endsWith("At")) return { value: "moment", parse: momentOption };
  return { value };
}

function isTelegramId(schema: z.ZodType): boolean {
  const checks = schema instanceof z.ZodString ? (schema.def.checks ?? []) : [];
  return checks.some(({ _zod: { def } }) => "pattern" in def && def.pattern === TELEGRAM_ID);
}

function amountKind(name: string): AmountKind {
  if (/price/i.test(name)) return "price";
  return /budget|limit/i.test(name) ? "budget" : "payment";
}

/** Adds an option for a field. Returns how its value is read from the options of a call: undefined, null, or a value. */
export function addOption(command: Command, field: RouteField, words?: FieldWords): (options: object) => unknown {
  const of = detailed(field, words);
  const flag = of.flag ?? flagOf(field.name);
  const list = field.schema instanceof z.ZodArray ? field.schema : undefined;
  const kind = kindOf(field.name, (list?.element as z.ZodType | undefined) ?? field.schema);
  const isFlag = of.isFlag ?? (kind.value === "answer" && field.usual === false);
  const isClearable = field.place === "body" && !isFlag && isCleared(field, list);
  const repeated = isClearable ? "; repeatable, replaces the list" : "; repeatable";
  const text = `${of.text ?? ""}${of.parse ? "" : boundsOf(field)}${list && !of.parse ? repeated : ""}${isClearable ? "; none clears it" : ""}`;
  const option = new Option(isFlag ? `--${flag}` : `--${flag} <${of.value ?? kind.value}>`, text.replace(/^; /, ""));
  if (!isFlag) {
    if (kind.choices !== undefined && of.parse === undefined) option.choices(kind.choices);
    const check = option.parseArg;
    const one = (word: string) => {
      check?.(word, undefined as never);
      return kind.parse?.(word) ?? word;
    };
    const parse = of.parse ?? (list === undefined ? one : collect(one));
    option.argParser((word, earlier) =>
      word === "none" && isClearable ? NONE : parse(word, (earlier === NONE ? undefined : earlier) as never),
    );
  }
  const usual =
    of.usual ??
    (field.parent === undefined && ["string", "number"].includes(typeof field.usual) ? field.usual : undefined);
  if (usual !== undefined && usual !== "") option.default(usual);
  option.makeOptionMandatory(of.isRequired ?? (field.isRequired && usual === undefined));
  command.addOption(option);
  const name = option.attributeName();
  return (options) => {
    const value = (options as Record<string, unknown>)[name];
    if (value !== NONE) return value;
    return list === undefined || field.parent !== undefined ? null : [];
  };
}

/** Whether `none` clears a setting: one that may be null and is not null already, or a list that may be empty. */
function isCleared({ isNullable, parent, usual }: RouteField, list: z.ZodArray | undefined): boolean {
  if (list === undefined || isNullable) return isNullable && usual !== null;
  return parent !== undefined || (usual === undefined && list.safeParse([]).success);
}

/** Adds an argument for a field. */
export function addArgument(command: Command, field: RouteField, words?: FieldWords): void {
  const of = detailed(field, words);
  const kind = kindOf(field.name, field.schema);
  const argument = new Argument(`<${of.flag ?? flagOf(field.name)}>`, of.text);
  if (kind.choices !== undefined) argument.choices(kind.choices);
  const parse = of.parse ?? kind.parse;
  if (parse !== undefined) argument.argParser((word) => parse(word));
  command.addArgument(argument);
}

/** The example of a field's argument. */
export function exampleOf(field: RouteField, words?: FieldWords): string {
  return detailed(field, words).example ?? `<${flagOf(field.name)}>`;
}

const MAX_BOUND = 1_000_000;

function boundsOf({ name, schema }: RouteField): string {
  if (!(schema instanceof z.ZodNumber) || name === "limit") return "";
  const { minValue: min, maxValue: max } = schema;
  return min === null || max === null || max > MAX_BOUND ? "" : `, ${min} to ${max}`;
}

function flagOf(name: string): string {
  return kebab(name).replace(/-(micros|seconds)$/, "");
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
