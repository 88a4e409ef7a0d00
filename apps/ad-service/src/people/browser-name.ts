/** The first that is named: most browsers also name those that they descend from. */
const browsers = [
  ["Edge", /\bEdgA?\/|\bEdgiOS\//],
  ["Opera", /\bOPR\//],
  ["Yandex Browser", /\bYaBrowser\//],
  ["Samsung Internet", /\bSamsungBrowser\//],
  ["Firefox", /\bFirefox\/|\bFxiOS\//],
  ["Chrome", /\bChrome\/|\bCriOS\/|\bHeadlessChrome\//],
  ["Safari", /\bSafari\//],
] as const;
const systems = [
  ["Android", /\bAndroid\b/],
  ["iPhone", /\biPhone\b/],
  ["iPad", /\biPad\b/],
  ["Windows", /\bWindows\b/],
  ["ChromeOS", /\bCrOS\b/],
  ["macOS", /\bMacintosh\b/],
  ["Linux", /\bLinux\b/],
] as const;

/**
 * A browser as its user knows it, from the header `User-Agent` (RFC 9110, section 10.1.5): `Firefox, Windows`. It is what the
 * browser says, and proves nothing. Empty if neither is known.
 */
export function browserName(userAgent = ""): string {
  const named = [browsers, systems].map((names) => names.find(([, pattern]) => pattern.test(userAgent))?.[0]);
  return named.filter((name) => name !== undefined).join(", ");
}
