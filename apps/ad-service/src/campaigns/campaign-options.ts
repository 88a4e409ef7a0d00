import { momentOption, wholeNumber } from "@intermission/server/command-options";
import type { Row } from "@intermission/server/command-tables";
import { type Command, InvalidArgumentError, Option } from "commander";

/** A campaign's settings as options of the command line. `none` removes a limit or a target. */
export function withSettings(command: Command): Command {
  return command
    .option("--name <name>", "name for the operator; required for a new campaign")
    .option("--advertiser <name>", "shown to viewers; required for a new campaign")
    .option("--landing-url <url>", "where the link, or the button beside the video, leads")
    .option("--call-to-action <label>", "label of the button beside the video", orNone(asIs))
    .addOption(
      new Option("--priority <priority>", "campaigns of a higher priority are shown first").choices([
        "sponsorship",
        "standard",
        "house",
      ]),
    )
    .option("--category <word>", "topic that bots may block, such as games", orNone(asIs))
    .addOption(
      new Option("--pacing <pacing>", "spread over the day, or as fast as users come").choices(["even", "asap"]),
    )
    .option("--starts-at <moment>", "such as 2026-01-31T08:00:00Z, or none", orNone(momentOption))
    .option("--ends-at <moment>", "such as 2026-01-31T08:00:00Z, or none", orNone(momentOption))
    .option("--weight <number>", "how often it is chosen, relative to others", wholeNumber)
    .option("--view-price <amount>", "price of a completed view, in the deployment's currency, such as 0.002", money)
    .option("--click-price <amount>", "price of a counted click on a direct link", money)
    .option("--total-budget <amount>", "in total, or none", orNone(money))
    .option("--daily-budget <amount>", "per UTC day, or none", orNone(money))
    .option("--total-view-cap <number>", "completed views in total, or none", orNone(wholeNumber))
    .option("--daily-view-cap <number>", "completed views per UTC day, or none", orNone(wholeNumber))
    .option("--total-click-cap <number>", "counted clicks in total, or none", orNone(wholeNumber))
    .option("--daily-click-cap <number>", "counted clicks per UTC day, or none", orNone(wholeNumber))
    .option("--user-cap <cap>", "views and clicks of one user within a period, such as 3/24h, or none", orNone(userCap))
    .option("--languages <codes>", "the user's, such as en,ru, or none", orNone(words))
    .option("--platforms <names>", "of android,ios,desktop,web, or none", orNone(words))
    .addOption(
      new Option("--premium <who>", "with Telegram Premium only, without it only, or all").choices([
        "yes",
        "no",
        "any",
      ]),
    )
    .option("--bots <ids>", "only in these bots, or none", orNone(words))
    .option("--bot-categories <words>", "only in bots of these categories, or none", orNone(words))
    .option("--excluded-bots <ids>", "never in these bots, or none", orNone(words))
    .option("--excluded-bot-categories <words>", "never in bots of these categories, or none", orNone(words))
    .option("--hours <hours>", "of the day in the bot's time zone, such as 8-22 or 7,12,18, or none", orNone(numbers))
    .option("--weekdays <days>", "1 is Monday; such as 1-5, or none", orNone(numbers));
}

const targets = [
  ...["languages", "platforms", "bots", "botCategories", "excludedBots", "excludedBotCategories", "hours", "weekdays"],
  "premium",
];

/** The options as the server expects them. Targets without an option keep their value in `targeting`, the previous targets. */
export function settingsOf(options: Row, targeting: Row = {}): Row {
  const cleared = Object.fromEntries(
    Object.entries(options).map(([name, value]) => [name, value === NONE ? null : value]),
  );
  const { viewPrice, clickPrice, totalBudget, dailyBudget, userCap, ...others } = cleared;
  const named = targets.filter((name) => others[name] !== undefined);
  const target: Row = { ...targeting };
  for (const name of named) {
    const value = name === "premium" ? { yes: true, no: false, any: null }[String(others[name])] : others[name];
    if (value === null) delete target[name];
    else target[name] = value;
  }
  const rest = Object.fromEntries(Object.entries(others).filter(([name]) => !targets.includes(name)));
  return {
    ...rest,
    ...{ viewPriceMicros: viewPrice, clickPriceMicros: clickPrice },
    ...{ totalBudgetMicros: totalBudget, dailyBudgetMicros: dailyBudget },
    ...(userCap === null ? { userCap: null, userCapSeconds: null } : (userCap as object | undefined)),
    ...(named.length > 0 && { targeting: target }),
  };
}

/** Whether an option is a target: then the other targets must be read first, to keep them. */
export function namesTarget(options: Row): boolean {
  return targets.some((name) => options[name] !== undefined);
}

/** An amount in micros: always an integer, so it is exact. */
export function money(text: string): number {
  const [, whole, fraction = ""] = /^(\d{1,6})(?:\.(\d{1,6}))?$/.exec(text) ?? [];
  if (whole === undefined)
    throw new InvalidArgumentError("It must be an amount such as 12 or 0.002, with 6 decimals at most.");
  return Number(whole) * 1_000_000 + Number(fraction.padEnd(6, "0"));
}

/** Micros as an amount: 2000 is 0.002. */
export function amountOf(micros: unknown): string {
  if (typeof micros !== "number") return "–";
  return (micros / 1_000_000).toFixed(6).replace(/\.?0+$/, "");
}

/** Commander turns an empty text into null. */
const NONE = Symbol("none");

function orNone<Value>(parse: (text: string) => Value) {
  return (text: string): Value | typeof NONE => (text === "none" ? NONE : parse(text));
}

function asIs(text: string): string {
  return text;
}

function words(text: string): string[] {
  return text.split(",").map((word) => word.trim());
}

/** `8-11,14` is 8, 9, 10, 11 and 14. */
function numbers(text: string): number[] {
  return words(text).flatMap((word) => {
    const [, first, last = first] = /^(\d{1,2})(?:-(\d{1,2}))?$/.exec(word) ?? [];
    const [from, to] = [Number(first), Number(last)];
    if (Number.isNaN(from) || to < from) throw new InvalidArgumentError("It must be numbers such as 8-22 or 7,12,18.");
    return Array.from({ length: to - from + 1 }, (_, index) => from + index);
  });
}

const unitSeconds: Record<string, number> = { m: 60, h: 3600, d: 86_400 };

function userCap(text: string): { userCap: number; userCapSeconds: number } {
  const [, cap, count, unit = ""] = /^(\d{1,5})\/(\d{1,4})([mhd])$/.exec(text) ?? [];
  if (cap === undefined)
    throw new InvalidArgumentError("It must be a number per period, such as 3/24h, 1/30m or 10/7d.");
  return { userCap: Number(cap), userCapSeconds: Number(count) * (unitSeconds[unit] ?? 0) };
}
