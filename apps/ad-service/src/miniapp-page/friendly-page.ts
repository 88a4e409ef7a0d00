import { pageLanguage, pageLanguages } from "@intermission/server/page-language";
import { type FriendlyPage, friendlyPageTexts } from "./friendly-page-texts.ts";

/** For the operator of the service. */
const hints: Partial<Record<FriendlyPage, string>> = {
  "no-bot": "/app/&lt;bot id&gt;",
  "not-built": "npm run build",
};

/** A complete HTML page without scripts, in the browser's most preferred language among ours. */
export function friendlyPage(page: FriendlyPage, acceptLanguage: string | undefined): string {
  const language = pageLanguage(acceptLanguage);
  const { title, text } = friendlyPageTexts[language][page];
  const hint = hints[page];
  return `<!doctype html>
<html lang="${language}" dir="${pageLanguages[language]}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<main style="max-width:32rem;margin:20vh auto 0;padding:0 1.5rem;font:1.0625rem/1.5 system-ui,sans-serif">
<h1 style="font-size:1.5rem">${title}</h1>
<p>${text}</p>${hint ? `\n<p><code>${hint}</code></p>` : ""}
</main>
</html>
`;
}
