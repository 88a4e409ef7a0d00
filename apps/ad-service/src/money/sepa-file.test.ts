import { noOperatorParty } from "@intermission/operator-api/parties";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { RunOfFile } from "./payout-runs.ts";
import { sepaFile } from "./sepa-file.ts";

const today = new Date("2026-03-03T10:00:00Z");
const iban = "NL91ABNA0417164300";
const run: RunOfFile = {
  runId: "run_2K18GkjhZUeUj9wQx",
  month: "2026-02",
  reference: "Payout 2026-02",
  currency: "EUR",
  madeAt: new Date("2026-03-02T09:30:00.123Z"),
  debtor: { ...noOperatorParty, legalName: "Rewards Ltd", iban: "DE89370400440532013000" },
  payments: [
    { botId: "7000000001", amountMicros: 12_340_000n, payeeName: "Quiz Studio", iban },
    { botId: "7000000002", amountMicros: 10_000n, payeeName: "Jörg Weiß <b>", iban },
  ],
};

function textOf(changes: Partial<RunOfFile> = {}): string {
  const file = sepaFile({ ...run, ...changes }, today);
  if (file.outcome !== "file") throw new Error(file.outcome);
  return file.text;
}

/** The elements in the order of the document, with their text. */
function elements(text: string): [string, string][] {
  return [...text.matchAll(/<(\w+)(?: [^>]*)?>([^<]*)/g)].map(([, name = "", value = ""]) => [name, value.trim()]);
}

const valuesOf = (text: string, name: string) =>
  elements(text).flatMap(([one, value]) => (one === name ? [value] : []));

test("the elements stand in the order of the schema pain.001.001.09", () => {
  const one = textOf({ payments: run.payments.slice(0, 1) });
  // biome-ignore format: packed
  expect(elements(one).map(([name]) => name)).toEqual([
    "Document", "CstmrCdtTrfInitn",
    "GrpHdr", "MsgId", "CreDtTm", "NbOfTxs", "CtrlSum", "InitgPty", "Nm",
    "PmtInf", "PmtInfId", "PmtMtd", "NbOfTxs", "CtrlSum", "PmtTpInf", "SvcLvl", "Cd", "ReqdExctnDt", "Dt", "Dbtr", "Nm",
    "DbtrAcct", "Id", "IBAN", "DbtrAgt", "FinInstnId", "Othr", "Id", "ChrgBr",
    "CdtTrfTxInf", "PmtId", "EndToEndId", "Amt", "InstdAmt", "Cdtr", "Nm", "CdtrAcct", "Id", "IBAN", "RmtInf", "Ustrd",
  ]);
  expect(one).toContain('<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09">');
  expect(one).toContain('<InstdAmt Ccy="EUR">12.34</InstdAmt>');
  expect(valuesOf(one, "Dt")).toEqual(["2026-03-03"]);
});

test("sum and number are those of the payouts, in the group and in the batch", () => {
  expect(valuesOf(textOf(), "CtrlSum")).toEqual(["12.35", "12.35"]);
  expect(valuesOf(textOf(), "NbOfTxs")).toEqual(["2", "2"]);
  expect(valuesOf(textOf(), "InstdAmt")).toEqual(["12.34", "0.01"]);
});

test("names and references have the letters and the lengths that every bank takes, whatever people write", () => {
  const allowed = /^[a-zA-Z0-9/?:().,'+ -]*$/;
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme", minLength: 1, maxLength: 150 }),
      fc.bigInt(10n ** 19n, 10n ** 20n - 1n),
      (word, id) => {
        const payment = { botId: String(id), amountMicros: 10_000n, payeeName: word.slice(0, 70), iban };
        const text = textOf({ reference: word, payments: [payment] });
        const limits = { Nm: 70, Ustrd: 140, EndToEndId: 35, MsgId: 35, PmtInfId: 35 };
        for (const [name, max] of Object.entries(limits))
          for (const value of valuesOf(text, name).map((one) => one.replaceAll("&#39;", "'"))) {
            expect(value).toMatch(allowed);
            expect(value.length).toBeLessThanOrEqual(max);
          }
        expect(valuesOf(text, "Ustrd")).not.toEqual([""]);
      },
    ),
  );
});

test("other currencies, an unknown operator and accounts that no transfer reaches have no file", () => {
  const far = { botId: "1", amountMicros: 1n, payeeName: "Ada", iban: "TR330006100519786457841326" };
  expect(sepaFile({ ...run, currency: "USD" }, today)).toEqual({ outcome: "other-currency" });
  expect(sepaFile({ ...run, debtor: noOperatorParty }, today)).toEqual({ outcome: "debtor-unknown" });
  expect(sepaFile({ ...run, payments: [far] }, today)).toEqual({ outcome: "other-area", payees: ["Ada"] });
});
