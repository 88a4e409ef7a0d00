/** What is filled in to a landing page's address: `{click_id}`. */
export const landingMacros = ["click_id", "code", "bot_id", "campaign_id", "creative_id", "erid"] as const;
export type LandingMacro = (typeof landingMacros)[number];

/**
 * Placeholders of other systems: `{x}`, `{{x}}`, `${x}`, `<x>`, `%%x%%`, `__X__`, and `[x]` as a value, since `a[x]=1` is an
 * ordinary parameter. URL parsers encode some of the brackets.
 */
const PLACEHOLDER = /\$?\{+\s*[\w.-]+\s*\}+|<[\w.-]+>|%%[\w.-]+%%|__[A-Z][A-Z_]*[A-Z]__|(?<=[=/])\[[\w.-]+\]/g;

/** The placeholders in an address that are no macros, each once: they are sent as they stand. */
export function unknownMacros(landingUrl: string): string[] {
  const text = landingUrl.replace(/%(7B|7D|3C|3E|5B|5D)/gi, (encoded) => decodeURIComponent(encoded));
  const placeholders = [...text.matchAll(PLACEHOLDER)].map(([whole]) => whole);
  return [...new Set(placeholders)].filter(
    (placeholder) => !landingMacros.some((name) => `{${name}}` === placeholder.toLowerCase()),
  );
}
