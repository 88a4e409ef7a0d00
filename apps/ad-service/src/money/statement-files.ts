import { createHash } from "node:crypto";
import { csvOf } from "@intermission/operator-api/csv";
import { statementAmounts } from "@intermission/operator-api/currency-units";
import type { MoneyStatement, StatementLine } from "@intermission/operator-api/money";
import { html } from "@intermission/server/html-page";

const words = {
  top_up: "Payment received",
  charge: "Views and clicks",
  refund: "Refunds",
  correction: "Correction",
  payout: "Payout",
} satisfies Record<StatementLine["kind"], string>;

/** In JSON, large amounts are parsed as bigints. */
type PrintedStatement = Omit<MoneyStatement, "openingMicros" | "closingMicros" | "lines"> & {
  openingMicros: number | bigint;
  closingMicros: number | bigint;
  lines: readonly (Omit<StatementLine, "amountMicros"> & { amountMicros: number | bigint })[];
};

export function statementCsv(statement: PrintedStatement): string {
  const { number, month, name, currency, lines } = statement;
  const amounts = statementAmounts(statement);
  const rowOf = (amount: string, what: string, line: Partial<Omit<StatementLine, "amountMicros">> = {}) => {
    const words = [month, name, line.at?.toISOString() ?? "", what, line.reference ?? "", line.note ?? ""];
    return [number, ...words, amount, currency];
  };
  const rows = [
    ["statement", "month", "name", "at", "what", "reference", "note", "amount", "currency"],
    rowOf(amounts.opening, "Opening balance"),
    ...lines.map((line, index) => rowOf(amounts.lines[index] ?? "", words[line.kind], line)),
    rowOf(amounts.closing, "Closing balance"),
  ];
  return csvOf(rows);
}

const style = `
:root{color-scheme:light dark;--ground:#fff;--ink:#15181d;--soft:#5b626d;--line:#d7dae0}
@media (prefers-color-scheme:dark){:root{--ground:#15181d;--ink:#f2f4f7;--soft:#a5adb9;--line:#39404a}}
@media print{:root{color-scheme:light;--ground:#fff;--ink:#000;--soft:#444;--line:#999}}
*{box-sizing:border-box;margin:0}
body{padding:clamp(1rem,5vw,4rem);max-width:56rem;margin:0 auto;background:var(--ground);color:var(--ink);font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.5rem;line-height:1.25}
p{color:var(--soft)}
dl{display:grid;grid-template-columns:auto 1fr;gap:.25rem 1.5rem;margin:1.5rem 0}
dt{color:var(--soft)}
dd{margin:0}
@media (max-width:30rem){td,th{font-size:.875rem}}
table{width:100%;border-collapse:collapse}
th,td{padding:.5rem .5rem .5rem 0;border-bottom:1px solid var(--line);text-align:start;vertical-align:top}
th{font-weight:600;color:var(--soft)}
.day{white-space:nowrap}
.amount{text-align:end;white-space:nowrap;font-variant-numeric:tabular-nums;padding-inline-end:0}
.sum td{font-weight:600}
@media (max-width:30rem){.more{display:block;font-size:.875rem}}
`;

/** The page loads nothing and runs nothing: only this style applies. */
export const statementPolicy = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** A page to read and to print. */
export function statementPage(statement: PrintedStatement): string {
  const { number, month, name, side, ownerId, currency, lines, issuedAt } = statement;
  const amounts = statementAmounts(statement);
  const title = `Statement ${number}, ${month}`;
  let rows = html``;
  for (const [index, line] of lines.entries()) {
    const more = [line.reference, line.note].filter((text) => text !== null).join(" · ");
    const day = line.at === null ? month : line.at.toISOString().slice(0, 10);
    rows = html`${rows}<tr><td class="day">${day}</td><td>${words[line.kind]} <span class="more">${more}</span></td><td class="amount">${amounts.lines[index] ?? ""}</td></tr>
`;
  }
  const sum = (text: string, amount: string) =>
    html`<tr class="sum"><td colspan="2">${text}</td><td class="amount">${amount}</td></tr>`;
  return html`<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p>${side === "advertiser" ? "Account of an advertiser" : "Account of a publisher"}</p>
<dl>
<dt>Name</dt><dd dir="auto">${name}</dd>
<dt>Id</dt><dd>${ownerId}</dd>
<dt>Currency</dt><dd>${currency}</dd>
<dt>Issued</dt><dd>${issuedAt.toISOString().slice(0, 10)}</dd>
</dl>
<table>
<thead><tr><th scope="col">Date</th><th scope="col">What</th><th scope="col" class="amount">Amount ${currency}</th></tr></thead>
<tbody>
${sum("Opening balance", amounts.opening)}
${rows}${sum("Closing balance", amounts.closing)}
</tbody>
</table>
</main>
</body>
</html>
`.text;
}
