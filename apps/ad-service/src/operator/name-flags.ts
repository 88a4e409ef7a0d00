import type { Command } from "commander";
import type { OperatorRefusal } from "./operator-client.ts";

/** Flags whose field is not the flag in camel case, optionally with a unit suffix or a plural. */
const flagsOfField: Record<string, readonly string[]> = {
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
export function nameFlags({ message, faults }: OperatorRefusal, command: Command | undefined): string {
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
  return [...(flagsOfField[field] ?? []), whole, withoutUnit, withoutUnit.replace(/s$/, "")];
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
