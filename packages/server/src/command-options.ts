import { statSync } from "node:fs";
import { readMoment } from "@intermission/ad-core/moment";
import { type AmountKind, readAmount } from "@intermission/operator-api/amounts";
import { type Command, InvalidArgumentError } from "commander";
import { readWholeNumber, type WholeNumberBounds } from "./whole-number.ts";

const units: readonly [seconds: number, name: string][] = [
  [86_400, "d"],
  [3600, "h"],
  [60, "min"],
  [1, "s"],
];

/** "3 min ago", "in 20 s": a moment relative to `asOf`; undefined for a value that is not a moment. */
export function timeFrom(asOf: Date, moment: unknown): string | undefined {
  if (typeof moment !== "string") return undefined;
  const seconds = Math.round((Date.parse(moment) - asOf.getTime()) / 1000);
  if (Number.isNaN(seconds)) return undefined;
  const distance = Math.abs(seconds);
  const [size, name] = units.find(([size]) => distance >= 2 * size) ?? [1, "s"];
  if (distance === 0) return "now";
  const length = `${Math.floor(distance / size)} ${name}`;
  return seconds < 0 ? `${length} ago` : `in ${length}`;
}

/** Minutes between two moments, with one decimal: columns have one unit. Undefined if one is not a moment. */
export function minutesFrom(from: Date, to: unknown): string | undefined {
  const minutes = typeof to === "string" ? (Date.parse(to) - from.getTime()) / 60_000 : Number.NaN;
  return Number.isNaN(minutes) ? undefined : minutes.toFixed(1);
}

export function wholeNumber(text: string): number {
  return wholeNumberIn({ min: 0 })(text);
}

/** In micros. */
export function amountOption(kind: AmountKind) {
  return (text: string): number => {
    const read = readAmount(text, kind);
    if (read.outcome === "amount") return read.micros;
    throw new InvalidArgumentError(`It ${read.message}.`);
  };
}

export function limitUpTo(max: number) {
  return wholeNumberIn({ min: 1, max });
}

export function wholeNumberIn(bounds: WholeNumberBounds) {
  return (text: string): number => {
    const read = readWholeNumber(text, bounds);
    if (read.outcome === "number") return read.value;
    throw new InvalidArgumentError(`It ${read.message}.`);
  };
}

/** The flag of commands whose effects may need a confirmation. */
export function confirmable(command: Command): Command {
  return command.option("--yes", "do it, also if its effects are rarely meant");
}

export function telegramIdOption(text: string): string {
  if (!/^[1-9][0-9]{0,19}$/.test(text))
    throw new InvalidArgumentError("It must be a Telegram id: digits, such as 7000000001.");
  return text;
}

export function collect<Value>(parse: (text: string) => Value) {
  return (text: string, earlier: Value[] = []): Value[] => [...earlier, parse(text)];
}

export function existingFile(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found?.isFile()) throw new InvalidArgumentError("There is no such file.");
  if (found.size === 0) throw new InvalidArgumentError("The file is empty.");
  return path;
}

export interface CaptionsFile {
  language: string;
  file: string;
}

/** `en=captions.vtt` */
export function captionsOption(text: string): CaptionsFile {
  const [, language, file] = /^([A-Za-z0-9-]+)=(.+)$/.exec(text) ?? [];
  if (language === undefined || file === undefined) {
    throw new InvalidArgumentError("It must be a language and a file, such as en=captions.vtt.");
  }
  return { language, file: existingFile(file) };
}

const unitSeconds: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** A date-time with an offset, or a date. */
export function momentOption(text: string): Date {
  const read = readMoment(text);
  if (read.outcome === "moment") return read.moment;
  throw new InvalidArgumentError(`It ${read.message}.`);
}

/** The same, or how long ago it was. */
export function pastMomentOption(text: string): Date {
  const [, count, unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const ago = count === undefined ? text : momentAgo(Number(count) * (unitSeconds[unit] ?? 0));
  const read = readMoment(ago);
  if (read.outcome === "moment") return read.moment;
  throw new InvalidArgumentError(`It ${read.message}, or a time ago such as 30m, 2h, 3d.`);
}

function momentAgo(seconds: number): string {
  return new Date(Date.now() - seconds * 1000).toISOString();
}

/** Flags whose field is not the flag in camel case, optionally with a unit suffix or a plural. */
const flagsOfField: Record<string, readonly string[]> = {
  appOrigins: ["app-origin"],
  blockedAdvertisers: ["block-advertiser"],
  blockedCategories: ["block-category"],
  creativeIds: ["video", "creative"],
  since: ["failed-since", "everything-since"],
  url: ["from"],
};

/**
 * Puts a refusal into the words of the typed command: the server names request fields, such as `codeLifetimeSeconds`,
 * the user knows `--code-lifetime`. A field that is no option or argument of the command keeps its name.
 */
export function nameFlags(
  { message, faults }: { message: string; faults: readonly { field: string; message: string }[] },
  command: Command | undefined,
): string {
  if (command === undefined || faults.length === 0) return message;
  return faults
    .map((fault) => (fault.field === "body" ? fault.message : `${wordFor(fault.field, command)}: ${fault.message}`))
    .join("; ");
}

function wordFor(field: string, command: Command): string {
  const names = field.split(".").filter((part) => !/^\d+$/.test(part));
  for (const name of names.toReversed()) {
    const flags = flagsOf(name).filter((flag) => command.options.some(({ long }) => long === `--${flag}`));
    if (flags.length > 0) return flags.map((flag) => `--${flag}`).join(" or ");
    const argument = flagsOf(name).find((flag) => command.registeredArguments.some((one) => one.name() === flag));
    if (argument !== undefined) return `<${argument}>`;
  }
  return field;
}

function flagsOf(field: string): string[] {
  const whole = kebab(field);
  const withoutUnit = whole.replace(/-(micros|seconds|ms)$/, "");
  return [...new Set([...(flagsOfField[field] ?? []), whole, withoutUnit, withoutUnit.replace(/s$/, "")])];
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
