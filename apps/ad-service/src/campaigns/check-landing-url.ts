export type LandingUrlCheck = { outcome: "valid"; url: string } | { outcome: "invalid"; message: string };

const LONGEST = 2048;

/** A page that a viewer may be sent to: http or https (t.me among them), without a user name or password in it. */
export function checkLandingUrl(text: string): LandingUrlCheck {
  if (text.length > LONGEST) return invalid(`is longer than ${LONGEST} characters`);
  if (!URL.canParse(text)) return invalid("is not an address; write it in full, as https://example.com/page");
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") return invalid("must begin with https:// or http://");
  if (url.username || url.password) return invalid("must not hold a user name or password");
  return { outcome: "valid", url: url.href };
}

function invalid(fault: string): LandingUrlCheck {
  return { outcome: "invalid", message: `the landing URL ${fault}` };
}
