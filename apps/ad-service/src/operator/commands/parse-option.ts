import { statSync } from "node:fs";
import { InvalidArgumentError } from "commander";

export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}

export function telegramIdOption(text: string): string {
  if (!/^[1-9][0-9]{0,19}$/.test(text))
    throw new InvalidArgumentError("It must be a Telegram id: digits, as 7000000001.");
  return text;
}

export function collect<Value>(parse: (text: string) => Value) {
  return (text: string, earlier: Value[] = []): Value[] => [...earlier, parse(text)];
}

export function existingFile(path: string): string {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) throw new InvalidArgumentError("There is no such file.");
  return path;
}
