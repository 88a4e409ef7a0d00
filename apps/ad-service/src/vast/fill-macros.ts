/** Values for the macros of a template, unencoded. A missing value is filled in as -1: unknown to this player. */
export interface Macros {
  now: Date;
  /** In [0, 1). */
  chance: number;
  viewId?: string;
  userAgent?: string;
  assetUri?: string;
  playheadMs?: number;
  errorCode?: number;
  clickId?: string;
  adServingId?: string | undefined;
  universalAdId?: string | undefined;
  adCategories?: string | undefined;
  blockedAdCategories?: string | undefined;
}

/**
 * The macros of VAST 4.2, chapter 6. Brackets around anything else are part of the address: `?ids[]=1&user[A]=2`. URL
 * parsers keep the brackets in a path, and some ad servers send them encoded. Others write `%%NAME%%`, which the usual VAST
 * clients fill in, too.
 */
const MACRO = /(?:\[|%5B)([A-Z][A-Z0-9_]{2,40})(?:\]|%5D)|%%([A-Z][A-Z0-9_]{2,40})%%/gi;
const UNKNOWN = "-1";
/** Limit for the values in one template: hundreds of macros with a long value each would make a URL of megabytes. */
const MAX_FILLED_LENGTH = 8 * 1024;
/** Known here, but not disclosed. */
const WITHHELD = "-2";
const names = new Set(
  `ADCATEGORIES ADCOUNT ADPLAYHEAD ADSERVINGID ADTYPE APIFRAMEWORKS APPBUNDLE ASSETURI BLOCKEDADCATEGORIES BREAKMAXADLENGTH
   BREAKMAXADS BREAKMAXDURATION BREAKMINADLENGTH BREAKMINDURATION BREAKPOSITION CACHEBUSTING CLICKPOS CLICKTYPE CLIENTUA
   CONTENTCAT CONTENTID CONTENTPLAYHEAD CONTENTURI DEVICEIP DEVICEUA DOMAIN ERRORCODE EXTENSIONS GDPRCONSENT IFA IFATYPE
   INVENTORYSTATE LATLONG LIMITADTRACKING MEDIAMIME MEDIAPLAYHEAD OMIDPARTNER PAGEURL PLACEMENTTYPE PLAYERCAPABILITIES
   PLAYERSIZE PLAYERSTATE PODSEQUENCE REASON REGULATIONS SERVERSIDE SERVERUA TIMESTAMP TRANSACTIONID UNIVERSALADID
   VASTVERSIONS VERIFICATIONVENDORS CLICKID RANDOM CACHEBUSTER`.split(/\s+/),
);

/**
 * Fills in the macros of a URL, percent-encoded; never in scheme or host. Values beyond 8 KiB in total are reported as
 * unknown.
 */
export function fillMacros(template: string, macros: Macros): string {
  const [origin = template] = /^[^:]*:\/\/[^/?#]*/.exec(template) ?? [];
  const values = valuesOf(macros);
  const encodedValues = new Map<string, string>();
  let lengthLeft = MAX_FILLED_LENGTH;
  const rest = template.slice(origin.length).replace(MACRO, (macro, bracketed?: string, percented?: string) => {
    const name = (bracketed ?? percented ?? "").toUpperCase();
    if (!names.has(name)) return macro;
    const value = encoded(name);
    if (value.length > lengthLeft) return UNKNOWN;
    lengthLeft -= value.length;
    return value;
  });
  return origin + rest;

  function encoded(name: string): string {
    const known = encodedValues.get(name) ?? encode(values[name] ?? UNKNOWN);
    encodedValues.set(name, known);
    return known;
  }
}

function valuesOf(macros: Macros): Partial<Record<string, string>> {
  const { now, chance, viewId, userAgent, assetUri, playheadMs, errorCode, clickId } = macros;
  const playhead = playheadMs === undefined ? undefined : playheadOf(playheadMs);
  const digits = String(Math.floor(chance * 1e8)).padStart(8, "0");
  return {
    TIMESTAMP: now.toISOString(),
    CACHEBUSTING: digits,
    RANDOM: digits,
    CACHEBUSTER: digits,
    ADPLAYHEAD: playhead,
    MEDIAPLAYHEAD: playhead,
    CONTENTPLAYHEAD: playhead,
    ASSETURI: assetUri,
    ERRORCODE: errorCode === undefined ? undefined : String(errorCode),
    TRANSACTIONID: viewId,
    CLICKID: clickId,
    ADSERVINGID: macros.adServingId,
    UNIVERSALADID: macros.universalAdId,
    ADCATEGORIES: macros.adCategories,
    BLOCKEDADCATEGORIES: macros.blockedAdCategories,
    DEVICEUA: userAgent,
    CLIENTUA: userAgent,
    SERVERUA: "Intermission",
    DEVICEIP: WITHHELD,
    IFA: WITHHELD,
    LATLONG: WITHHELD,
    // The server calls trackers on behalf of a client that plays.
    SERVERSIDE: "1",
    // For verificationNotExecuted: verification is not supported here.
    REASON: "2",
    ADTYPE: "video",
    ADCOUNT: "1",
    MEDIAMIME: "video/mp4,video/webm",
    PLAYERCAPABILITIES: "mute,autoplay,mautoplay",
    INVENTORYSTATE: "fullscreen",
    // AdCOM list "Creative Subtypes - Audio/Video": 2.0, 3.0, 4.0 to 4.2, and the wrappers of each.
    VASTVERSIONS: "2,3,5,6,7,8,11,12,13,14",
  };
}

/** `HH:MM:SS.mmm` */
function playheadOf(milliseconds: number): string {
  return new Date(Math.max(0, Math.floor(milliseconds))).toISOString().slice(11, 23);
}

/** RFC 3986: also encodes the characters that encodeURIComponent keeps. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}
