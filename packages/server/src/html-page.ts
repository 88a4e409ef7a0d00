import { createHash } from "node:crypto";

const style = `
:root{color-scheme:light dark;--ground:#f4f4f6;--card:#fff;--ink:#15181d;--soft:#5b626d;--accent:#1769e0;--on-accent:#fff}
@media (prefers-color-scheme:dark){:root{--ground:#101317;--card:#1b2027;--ink:#f2f4f7;--soft:#a5adb9;--accent:#6cabff;--on-accent:#06203f}}
*{box-sizing:border-box;margin:0}
body{min-height:100vh;min-height:100dvh;display:grid;place-items:center;padding:max(1rem,env(safe-area-inset-top)) 1rem max(1rem,env(safe-area-inset-bottom));background:var(--ground);color:var(--ink);font:1.0625rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main{width:100%;max-width:25rem;padding:2rem 1.5rem;border-radius:1.25rem;background:var(--card);text-align:center;overflow-wrap:anywhere}
h1{font-size:1.5rem;line-height:1.25;text-wrap:balance}
p{margin-top:.75rem;color:var(--soft);text-wrap:pretty}
form,.back{margin-top:1.75rem}
button,.back{display:block;width:100%;min-height:3.25rem;padding:.8rem 1rem;border:0;border-radius:.875rem;background:var(--accent);color:var(--on-accent);font:inherit;font-weight:600;text-decoration:none;cursor:pointer}
code{font-size:.9375rem;color:var(--ink)}
.bot{margin:0 0 .5rem;font-size:.9375rem}
:focus-visible{outline:3px solid var(--ink);outline-offset:3px}
`;

/** For the content security policy of these pages: they load nothing, and only this style applies. */
export const htmlPagePolicy = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'; base-uri 'none'`;

/**
 * Renders a page for a person who follows a link to a server: one card, in the colours of the person's system, without scripts.
 * Every value that is put into `html` is escaped.
 */
export function htmlPage(page: { language: string; direction: "ltr" | "rtl"; title: string; card: Markup }): string {
  return html`<!doctype html>
<html lang="${page.language}" dir="${page.direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="robots" content="noindex, nofollow">
<title>${page.title}</title>
<style>${new Markup(style)}</style>
</head>
<body>
<main>
${page.card}
</main>
</body>
</html>
`.text;
}

/** A part of a page: it is not escaped again. */
export class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export function html(parts: TemplateStringsArray, ...values: (string | Markup)[]): Markup {
  const texts = values.map((value) => (value instanceof Markup ? value.text : escaped(value)));
  return new Markup(String.raw({ raw: parts }, ...texts));
}

const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => escapes[character] ?? character);
}
