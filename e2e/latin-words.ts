import type { Page } from "@playwright/test";

/** What a Russian reader reads in Latin letters: names of standards, products, files and units, and what is typed as it is. */
const usual = new Set(
  `Android API BR CSV DE eCPM GB Intermission iOS JPEG OpenID PIN PNG Premium SHA SMTP Telegram USD UTC VAST VMAP WebP WebVTT XML
  ads bots pnpm update webhook betting dating games`.split(/\s+/),
);

const named = [
  // Commands, as they are typed.
  /\bpnpm ads( (?:[a-z]+_\w+|[a-z-]+))+/g,
  // Ids and codes.
  /\b(evt|clk|cmp|cre|adv|tok|per)_[\w-]+/g,
  /\b\d{6,}-[\w-]+/g,
  /\b(?=\w*\d)\w{18}\b/g,
  // Addresses, of people too; paths; settings.
  /\S+@\S+|@\w+|https?:\S+|(?<=^|\s)\/\S+/g,
  /\b[A-Z0-9]+(_[A-Z0-9]+)+\b/g,
  // Fields of events, and plural forms as they are typed.
  /\b[a-z]+(_[a-z]+)+\b/g,
  /\b(one|few|many|other)=\S+/g,
  // Time zones, files.
  /\b[A-Z]\w+\/[\w-]+(\/[\w-]+)?/g,
  /\S+[.](mp4|webp|png)\b/g,
];

/** The words in Latin letters that the page shows and that are none of the usual ones, each with its line; `names` are skipped. */
export async function latinWords(page: Page, names: readonly string[]): Promise<string[]> {
  const said = await page
    .locator("[placeholder], [title], [aria-label]")
    .evaluateAll((elements) =>
      elements.flatMap((element) =>
        ["placeholder", "title", "aria-label"].map((name) => element.getAttribute(name) ?? ""),
      ),
    );
  // biome-ignore lint/performance/useDomNodeTextContent: lines are told apart, and what is hidden is left out.
  const text = [await page.locator("body").innerText(), ...said].join("\n");
  const lines = text.split("\n").flatMap((line) => {
    const known = names.reduce((left, name) => left.replaceAll(name, ""), line);
    const rest = named.reduce((left, form) => left.replace(form, ""), known);
    const words = (rest.match(/[A-Za-z][A-Za-z'-]{2,}/g) ?? []).filter((word) => !usual.has(word.replace(/-$/, "")));
    return words.length > 0 ? [`${words.join(" ")}: ${line}`] : [];
  });
  return [...new Set(lines)];
}
