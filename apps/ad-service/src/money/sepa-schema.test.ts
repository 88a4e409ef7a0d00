import { readFileSync } from "node:fs";
import { noOperatorParty } from "@intermission/operator-api/parties";
import { expect, test } from "vitest";
import { validateXML } from "xmllint-wasm";
import type { RunOfFile } from "./payout-runs.ts";
import { sepaFile } from "./sepa-file.ts";

const schema = {
  fileName: "pain.001.001.09.xsd",
  contents: readFileSync(new URL("../../test/fixtures/pain.001.001.09.xsd", import.meta.url), "utf8"),
};

/** Validates a file by the schema. */
async function faultsOf(text: string): Promise<string[]> {
  const { errors } = await validateXML({ xml: { fileName: "payouts.xml", contents: text }, schema });
  return errors.map(({ message }) => message);
}

const run: RunOfFile = {
  runId: "run_2K18GkjhZUeUj9wQx",
  month: "2026-02",
  reference: "Payout 2026-02",
  currency: "EUR",
  madeAt: new Date("2026-03-02T09:30:00.123Z"),
  debtor: { ...noOperatorParty, legalName: "Rewards Ltd", iban: "DE89370400440532013000" },
  payments: [
    { botId: "7000000001", amountMicros: 12_340_000n, payeeName: "Quiz Studio", iban: "NL91ABNA0417164300" },
    {
      botId: "99999999999999999999",
      amountMicros: 10_000n,
      payeeName: "Jörg Weiß & Söhne",
      iban: "FR1420041010050500013M02606",
    },
    {
      botId: "7000000003",
      amountMicros: 999_999_999_990_000n,
      payeeName: "A".repeat(70),
      iban: "MT84MALT011000012345MTLCAST001S",
    },
  ],
};

function textOf(changes: Partial<RunOfFile> = {}): string {
  const file = sepaFile({ ...run, ...changes }, new Date("2026-03-03T10:00:00Z"));
  if (file.outcome !== "file") throw new Error(file.outcome);
  return file.text;
}
const valuesOf = (text: string, name: string) =>
  [...text.matchAll(new RegExp(`<${name}(?: [^>]*)?>([^<]*)<`, "g"))].map(([, value = ""]) => value);

test("the file for the bank is valid, whatever names and references people write", async () => {
  expect(await faultsOf(textOf())).toEqual([]);
  const words = ["//a//", "  ", "Ünïcödé 漢字", "x".repeat(300), "<&>\"'", "/", "٣"];
  for (const word of words) {
    const payments = run.payments.map((payment) => ({ ...payment, payeeName: `${word.slice(0, 60)}a` }));
    expect(await faultsOf(textOf({ reference: word, payments })), word).toEqual([]);
  }
});

test("its sums are those of its transfers, to the cent, and its accounts have right check digits", () => {
  const payments = Array.from({ length: 300 }, (_, index) => ({
    botId: String(7_000_000_001 + index),
    // Sums of these are not exact in binary fractions.
    amountMicros: BigInt(index + 1) * 1_010_000n,
    payeeName: `Studio ${index}`,
    iban: "NL91ABNA0417164300",
  }));
  const text = textOf({ payments });
  const cents = valuesOf(text, "InstdAmt").map((amount) => BigInt(amount.replace(".", "")));
  const sum = cents.reduce((all, one) => all + one, 0n);
  expect(valuesOf(text, "CtrlSum").map((amount) => BigInt(amount.replace(".", "")))).toEqual([sum, sum]);
  expect(valuesOf(text, "NbOfTxs")).toEqual(["300", "300"]);
  expect(new Set(valuesOf(text, "EndToEndId")).size).toBe(300);
  for (const iban of valuesOf(textOf(), "IBAN")) {
    const moved = `${iban.slice(4)}${iban.slice(0, 4)}`.replaceAll(/[A-Z]/g, (letter) =>
      String(letter.charCodeAt(0) - 55),
    );
    expect(
      [...moved].reduce((rest, digit) => (rest * 10 + Number(digit)) % 97, 0),
      iban,
    ).toBe(1);
  }
});

test.each([
  ["an element in another place", (text: string) => text.replace(/( *<ChrgBr>.*\n)([\s\S]*?)( *<\/PmtInf>)/, "$2$1$3")],
  ["a missing name", (text: string) => text.replace(/<Cdtr><Nm>.*<\/Nm><\/Cdtr>/, "<Cdtr/>")],
  ["a third decimal", (text: string) => text.replace(">12.34<", ">12.345<")],
  ["an amount of nothing", (text: string) => text.replace(">12.34<", ">0.00<")],
  ["another currency", (text: string) => text.replace('Ccy="EUR"', 'Ccy="USD"')],
  ["a letter that banks do not take", (text: string) => text.replace("Quiz Studio", "Quiz Stüdio")],
  ["a reference of 36 characters", (text: string) => text.replace(/<MsgId>.*</, `<MsgId>${"x".repeat(36)}<`)],
  ["a slash at the end of a reference", (text: string) => text.replace(/<EndToEndId>[^<]*/, "<EndToEndId>2026-02/")],
  ["a day that is none", (text: string) => text.replace("<Dt>2026-03-03", "<Dt>2026-02-30")],
  ["the version before", (text: string) => text.replace("pain.001.001.09", "pain.001.001.03")],
])("the schema of these tests refuses %s", async (_what, broken) => {
  const text = broken(textOf());
  expect(text).not.toBe(textOf());
  expect(await faultsOf(text)).not.toEqual([]);
});
