import { createHash } from "node:crypto";
import { csvOf } from "@intermission/operator-api/csv";
import { html, Markup } from "@intermission/server/html-page";
import { type PrintedLine, printedStatement, type StatementToPrint } from "./printed-statement.ts";
import { statementWords } from "./statement-words.ts";

/** In English, as programs read it. */
export function statementCsv(statement: StatementToPrint): string {
  const { number, month, name, currency } = statement;
  const { opening, closing, lines, tax } = printedStatement(statement);
  const { kinds, events, refunded, containedTax, tax: anyTax } = statementWords.en;
  const rowOf = (amount: string, what: string, line?: PrintedLine) => {
    const { at, item, reference, note } = line ?? {};
    const words = [month, name, at?.toISOString() ?? "", what, reference ?? "", note ?? ""];
    return [number, ...words, item?.campaign ?? "", item?.quantity ?? "", item?.unit ?? "", amount, currency];
  };
  const whatOf = ({ kind, item }: PrintedLine) =>
    item === undefined ? kinds[kind] : `${events[item.event] ?? item.event}${kind === "refund" ? `, ${refunded}` : ""}`;
  const rows = [
    // biome-ignore format: packed
    ["statement", "month", "name", "at", "what", "reference", "note", "campaign", "quantity", "unit_price", "amount", "currency"],
    rowOf(opening, "Opening balance"),
    ...lines.map((line) => rowOf(line.amount, whatOf(line), line)),
    rowOf(closing, "Closing balance"),
    ...(tax ? [rowOf(tax.contained, containedTax(tax.name ?? anyTax, tax.percent))] : []),
  ];
  return csvOf(rows);
}

const style = `
:root{color-scheme:light dark;--ground:#fff;--ink:#15181d;--soft:#5b626d;--line:#d7dae0}
@media (prefers-color-scheme:dark){:root{--ground:#15181d;--ink:#f2f4f7;--soft:#a5adb9;--line:#39404a}}
@page{size:A4;margin:18mm 16mm}
*{box-sizing:border-box;margin:0}
body{padding:clamp(1rem,5vw,4rem);max-width:60rem;margin:0 auto;background:var(--ground);color:var(--ink);font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.5rem;line-height:1.25}
h2{font-size:1rem;color:var(--soft);font-weight:600}
p,dt{color:var(--soft)}
.parties{display:grid;grid-template-columns:repeat(auto-fit,minmax(14rem,1fr));gap:1rem 2rem;margin:1.5rem 0}
.parties p{color:var(--ink)}
dl{display:grid;grid-template-columns:fit-content(60%) 1fr;gap:.25rem 1.5rem;margin:1.5rem 0}
dd{margin:0}
table{width:100%;border-collapse:collapse}
thead{display:table-header-group}
tr{break-inside:avoid}
th,td{padding:.5rem .75rem .5rem 0;border-bottom:1px solid var(--line);text-align:start;vertical-align:top}
th{font-weight:600;color:var(--soft)}
.day{white-space:nowrap}
.amount,.count{text-align:end;white-space:nowrap;font-variant-numeric:tabular-nums}
.amount{padding-inline-end:0}
.sum td{font-weight:600}
.more{display:block;color:var(--soft)}
@media (max-width:40rem){
td,th{font-size:.875rem}
thead{display:none}
table,tbody{display:block}
tr{display:grid;grid-template-columns:1fr auto;border-bottom:1px solid var(--line);padding:.5rem 0}
td{border:0;padding:0}
.day,.what{grid-column:1}
.amount{grid-column:2;grid-row:1}
.count{text-align:start;color:var(--soft);grid-column:1}
.count:empty{display:none}
.count+.count::before{content:"× "}
}
@media print{
:root{color-scheme:light;--ground:#fff;--ink:#000;--soft:#444;--line:#999}
body{padding:0;max-width:none;font-size:10pt}
}
`;

/** The page loads nothing and runs nothing: only this style applies. */
export const statementPolicy = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** A page to read and to print, in the language of its party. */
export function statementPage(statement: StatementToPrint): string {
  const { number, month, side, ownerId, currency, issuedAt, party } = statement;
  const language = party?.language ?? "en";
  const words = statementWords[language];
  const { opening, closing, lines } = printedStatement(statement);
  const format = amountFormat(language);
  const monthText = new Intl.DateTimeFormat(language, { year: "numeric", month: "long", timeZone: "UTC" }).format(
    new Date(`${month}-01T00:00:00Z`),
  );
  const title = words.statement(number, monthText);
  let rows = html``;
  for (const line of lines) rows = html`${rows}${rowOf(line, { month, language })}`;
  const sum = (text: string, amount: string) =>
    html`<tr class="sum"><td class="what" colspan="4">${text}</td><td class="amount">${format(amount)}</td></tr>`;
  return html`<!doctype html>
<html lang="${language}" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>${title}</title>
<style>${new Markup(style)}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p>${side === "advertiser" ? words.advertiser : words.publisher}</p>
${partiesOf(statement)}
<dl>
<dt>${words.id}</dt><dd>${ownerId}</dd>
<dt>${words.currency}</dt><dd>${currency}</dd>
<dt>${words.issued}</dt><dd>${issuedAt.toISOString().slice(0, 10)}</dd>
</dl>
<table>
<thead><tr><th scope="col">${words.date}</th><th scope="col">${words.what}</th><th scope="col" class="count">${words.quantity}</th><th scope="col" class="count">${words.unitPrice}</th><th scope="col" class="amount">${words.amount} ${currency}</th></tr></thead>
<tbody>
${sum(words.opening, opening)}
${rows}${sum(words.closing, closing)}
</tbody>
</table>
${taxOf(statement)}
</main>
</body>
</html>
`.text;
}

function rowOf(
  { kind, at, item, reference, note, amount }: PrintedLine,
  { month, language }: { month: string; language: keyof typeof statementWords },
): Markup {
  const words = statementWords[language];
  const format = amountFormat(language);
  const day = at === null ? month : at.toISOString().slice(0, 10);
  const event = item && (words.events[item.event] ?? item.event);
  const what = event === undefined ? words.kinds[kind] : kind === "refund" ? `${event}, ${words.refunded}` : event;
  const more = [item?.campaign ?? null, reference, note].filter((text) => text !== null).join(" · ");
  const [quantity, unit] = item ? [format(String(item.quantity)), format(item.unit)] : ["", ""];
  // On a narrow screen the price stands beside the quantity.
  return html`<tr><td class="day">${day}</td><td class="what">${what} <span class="more" dir="auto">${more}</span></td><td class="count">${quantity}</td><td class="count">${unit}</td><td class="amount">${format(amount)}</td></tr>
`;
}

function partiesOf({ name, operator, party }: StatementToPrint): Markup {
  const words = statementWords[party?.language ?? "en"];
  const block = (heading: string, lines: readonly (string | null | undefined)[]) => {
    let shown = html``;
    for (const line of lines) if (line != null) shown = html`${shown}<p dir="auto">${line}</p>`;
    return html`<section><h2>${heading}</h2>${shown}</section>`;
  };
  const taxId = (of: { taxId: string | null } | null) => (of?.taxId ? `${words.taxId}: ${of.taxId}` : null);
  const from = operator?.legalName
    ? block(words.from, [operator.legalName, operator.address, taxId(operator)])
    : html``;
  // The name in this service stays, by which the owner knows the account.
  const own = party?.legalName === name ? null : name;
  return html`<div class="parties">${from}${block(words.for, [party?.legalName, own, party?.address, taxId(party)])}</div>`;
}

function taxOf(statement: StatementToPrint): Markup {
  const language = statement.party?.language ?? "en";
  const words = statementWords[language];
  const note = statement.party?.taxNote ?? null;
  if (note !== null && statement.side === "advertiser") return html`<p dir="auto">${note}</p>`;
  const { tax } = printedStatement(statement);
  if (tax === undefined) return html``;
  const format = amountFormat(language);
  return html`<dl>
<dt>${words.spent}</dt><dd>${format(tax.spent)} ${statement.currency}</dd>
<dt>${words.containedTax(tax.name ?? words.tax, tax.percent)}</dt><dd>${format(tax.contained)} ${statement.currency}</dd>
</dl>`;
}

/** Text keeps all digits of large amounts; TypeScript knows only the form of a number's text. */
function amountFormat(language: string): (amount: string) => string {
  return (amount) => {
    const decimals = amount.split(".")[1]?.length ?? 0;
    const format = new Intl.NumberFormat(language, {
      minimumFractionDigits: decimals,
      maximumFractionDigits: decimals,
    });
    return format.format(amount as Intl.StringNumericLiteral);
  };
}
