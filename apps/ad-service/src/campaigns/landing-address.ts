export interface LandingMacros {
  click_id: string;
  code: string;
  bot_id: string;
  campaign_id: string;
  creative_id: string;
}

/** URL parsers write the braces of a path as %7B and %7D. */
const MACRO = /(?:\{|%7B)(click_id|code|bot_id|campaign_id|creative_id)(?:\}|%7D)/gi;

/** The landing page with its macros filled in, percent-encoded; never in scheme or host. */
export function landingAddress(landingUrl: string, macros: LandingMacros): string {
  const { origin } = new URL(landingUrl);
  const rest = landingUrl.slice(origin.length);
  if (!landingUrl.startsWith(origin)) throw new Error("a stored landing URL is not in its canonical form");
  return (
    origin +
    rest.replace(MACRO, (_macro, name: string) => encodeURIComponent(macros[name.toLowerCase() as keyof LandingMacros]))
  );
}
