/**
 * Zones that browsers still list by the name of before: ICU keeps the first name of each. Both are names of the IANA, which
 * every reader of an address knows.
 */
const renamed: Readonly<Record<string, string>> = {
  "Africa/Asmera": "Africa/Asmara",
  "America/Buenos_Aires": "America/Argentina/Buenos_Aires",
  "America/Catamarca": "America/Argentina/Catamarca",
  "America/Coral_Harbour": "America/Atikokan",
  "America/Cordoba": "America/Argentina/Cordoba",
  "America/Godthab": "America/Nuuk",
  "America/Indianapolis": "America/Indiana/Indianapolis",
  "America/Jujuy": "America/Argentina/Jujuy",
  "America/Louisville": "America/Kentucky/Louisville",
  "America/Mendoza": "America/Argentina/Mendoza",
  "Asia/Calcutta": "Asia/Kolkata",
  "Asia/Katmandu": "Asia/Kathmandu",
  "Asia/Rangoon": "Asia/Yangon",
  "Asia/Saigon": "Asia/Ho_Chi_Minh",
  "Atlantic/Faeroe": "Atlantic/Faroe",
  "Europe/Kiev": "Europe/Kyiv",
  "Pacific/Enderbury": "Pacific/Kanton",
  "Pacific/Ponape": "Pacific/Pohnpei",
  "Pacific/Truk": "Pacific/Chuuk",
};

/** The name that a zone has today, if this browser knows it. */
export function nameOfZone(zone: string): string {
  const name = renamed[zone];
  if (name === undefined) return zone;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }) && name;
  } catch {
    return zone;
  }
}

/** All zones by today's names, each with the name that this browser has for it. */
function allZones(): { name: string; zone: string }[] {
  const zones = ["UTC", ...Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC")];
  return zones
    .map((zone) => ({ name: nameOfZone(zone), zone }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/**
 * The zones that a text finds by their city or their name, that of before, too: those whose city begins with it first. If none is
 * found by name, those whose place in the reader's language it is: asking for these of all zones takes half a second.
 */
export function findZones(text: string, language: string): string[] {
  const search = plain(text).trim();
  const zones = allZones();
  const rank = (name: string) => (plain(name).split("/").at(-1)?.startsWith(search) ? 0 : 1);
  const found = zones
    .filter(({ name, zone }) => [name, zone].some((one) => plain(one).includes(search)))
    .toSorted((one, other) => rank(one.name) - rank(other.name));
  const known =
    found.length > 0 || search.length < 3
      ? found
      : zones.filter(({ zone }) => plain(placeOf(zone, language)).includes(search));
  return known.map(({ name }) => name);
}

/** The country, or the city where a country has several zones: what the language calls the time there. */
function placeOf(timeZone: string, language: string): string {
  const format = new Intl.DateTimeFormat(language, { timeZone, timeZoneName: "shortGeneric" });
  return format.formatToParts(0).find(({ type }) => type === "timeZoneName")?.value ?? "";
}

const plain = (text: string) => text.toLowerCase().replaceAll("_", " ");
