import { statSync } from "node:fs";
import { InvalidArgumentError } from "commander";

export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
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

/** A date-time in RFC 3339, a date, or how long ago it was. */
export function momentOption(text: string): Date {
  const [, count, unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count !== undefined) return new Date(Date.now() - Number(count) * (unitSeconds[unit] ?? 0) * 1000);
  const isMoment = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/.test(text);
  const moment = new Date(isMoment ? text : Number.NaN);
  if (!Number.isNaN(moment.getTime())) return moment;
  throw new InvalidArgumentError(
    "It must be a date-time such as 2026-01-31T08:00:00Z or 2026-01-31, or a time ago such as 30m, 2h, 3d.",
  );
}
