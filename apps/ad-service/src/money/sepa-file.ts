import { inUnits } from "@intermission/operator-api/currency-units";
import { isIbanOnly } from "@intermission/operator-api/iban";
import { latinText } from "@intermission/operator-api/latin-text";
import { html, type Markup } from "@intermission/server/html-page";
import type { RunOfFile, RunPayment } from "./payout-runs.ts";

/**
 * A credit transfer initiation, pain.001.001.09 of ISO 20022, by the European Payments Council's implementation guidelines of
 * SEPA credit transfers for customers and banks: one batch in euros, an account of the European Economic Area by its IBAN alone,
 * charges shared (SLEV).
 */
export type SepaFile =
  | { outcome: "file"; text: string }
  | { outcome: "other-currency" }
  /** The operator's name and account were not known when the payouts were recorded. */
  | { outcome: "debtor-unknown" }
  /** These accounts need more than a name and an IBAN. */
  | { outcome: "other-area"; payees: string[] };

/** Of names, of references, and of what the payee reads. */
const MAX_NAME = 70;
const MAX_REMITTANCE = 140;

/** `today`: the day on which the bank pays. The same run has the same ids in each of its files: a bank refuses the second one. */
export function sepaFile(run: RunOfFile, today: Date): SepaFile {
  const { debtor, payments, currency, madeAt } = run;
  if (currency !== "EUR") return { outcome: "other-currency" };
  const { legalName, iban } = debtor;
  if (legalName === null || iban === null || !isIbanOnly(iban)) return { outcome: "debtor-unknown" };
  const others = payments.filter((payment) => !isIbanOnly(payment.iban));
  if (others.length > 0) return { outcome: "other-area", payees: others.map(({ payeeName }) => payeeName) };
  const id = `PAYOUTS-${run.runId.slice("run_".length)}`;
  const name = latinText(legalName).slice(0, MAX_NAME);
  const sum = euros(payments.reduce((all, { amountMicros }) => all + amountMicros, 0n));
  const totals = html`<NbOfTxs>${String(payments.length)}</NbOfTxs>
      <CtrlSum>${sum}</CtrlSum>`;
  let transfers = html``;
  for (const payment of payments) transfers = html`${transfers}${transferOf(payment, run)}`;
  const { text } = html`<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09">
  <CstmrCdtTrfInitn>
    <GrpHdr>
      <MsgId>${id}</MsgId>
      <CreDtTm>${madeAt.toISOString().slice(0, 19)}Z</CreDtTm>
      ${totals}
      <InitgPty><Nm>${name}</Nm></InitgPty>
    </GrpHdr>
    <PmtInf>
      <PmtInfId>${id}</PmtInfId>
      <PmtMtd>TRF</PmtMtd>
      ${totals}
      <PmtTpInf><SvcLvl><Cd>SEPA</Cd></SvcLvl></PmtTpInf>
      <ReqdExctnDt><Dt>${today.toISOString().slice(0, 10)}</Dt></ReqdExctnDt>
      <Dbtr><Nm>${name}</Nm></Dbtr>
      <DbtrAcct><Id><IBAN>${iban}</IBAN></Id></DbtrAcct>
      <DbtrAgt><FinInstnId><Othr><Id>NOTPROVIDED</Id></Othr></FinInstnId></DbtrAgt>
      <ChrgBr>SLEV</ChrgBr>
${transfers}    </PmtInf>
  </CstmrCdtTrfInitn>
</Document>
`;
  return { outcome: "file", text };
}

function transferOf({ botId, amountMicros, payeeName, iban }: RunPayment, { month, reference }: RunOfFile): Markup {
  // 35 characters at most: an id of Telegram has up to 20 digits.
  return html`      <CdtTrfTxInf>
        <PmtId><EndToEndId>${endToEndId(botId, month)}</EndToEndId></PmtId>
        <Amt><InstdAmt Ccy="EUR">${euros(amountMicros)}</InstdAmt></Amt>
        <Cdtr><Nm>${latinText(payeeName).slice(0, MAX_NAME)}</Nm></Cdtr>
        <CdtrAcct><Id><IBAN>${iban}</IBAN></Id></CdtrAcct>
        <RmtInf><Ustrd>${remittanceOf(reference, month)}</Ustrd></RmtInf>
      </CdtTrfTxInf>
`;
}

/** What the payee's bank passes on, the same of each try. */
export function endToEndId(botId: string, month: string): string {
  return `${month}-${botId}`;
}

function remittanceOf(reference: string, month: string): string {
  const text = latinText(reference).slice(0, MAX_REMITTANCE);
  return text === "" ? `Payout ${month}` : text;
}

function euros(micros: bigint): string {
  return inUnits(micros, "EUR");
}
