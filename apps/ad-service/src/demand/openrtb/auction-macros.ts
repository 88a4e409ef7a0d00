/** What the macros of OpenRTB 2.6, 4.4 stand for; what is undefined is replaced by nothing. */
export interface AuctionMacros {
  auctionId: string;
  /** Of the response, else of the bid. */
  bidId: string | undefined;
  impressionId: string;
  seat: string | undefined;
  creativeId: string | undefined;
  /** The price for 1,000 impressions, as decimal text; only in notices of a win, in markup, and in billing notices. */
  price: string | undefined;
  currency: string;
  /** AdCOM, "Loss Reason Codes"; 0: won. */
  loss: number;
}

/** Also percent-encoded, as some buyers send it within another address, and with a name of an encoding behind a colon. */
const MACRO = /(?:\$|%24)(?:\{|%7B)AUCTION_([A-Z_]{2,20})(?:(?::|%3A)([A-Z0-9]{1,10}))?(?:\}|%7D)/gi;

/** Fills in the macros of an address or of markup, percent-encoded; `${AUCTION_PRICE:B64}` is in base64. */
export function fillAuctionMacros(template: string, macros: AuctionMacros): string {
  const values: Readonly<Record<string, string | undefined>> = {
    ID: macros.auctionId,
    BID_ID: macros.bidId,
    IMP_ID: macros.impressionId,
    SEAT_ID: macros.seat,
    AD_ID: macros.creativeId,
    PRICE: macros.price,
    CURRENCY: macros.currency,
    LOSS: String(macros.loss),
    // First price: what was bid is what is paid, and one impression is one.
    MBR: "1",
    MULTIPLIER: "1",
    MIN_TO_WIN: undefined,
    IMP_TS: undefined,
  };
  return template.replace(MACRO, (macro, name: string, encoding?: string) => {
    const key = name.toUpperCase();
    if (!Object.hasOwn(values, key)) return macro;
    const value = values[key] ?? "";
    const isBase64 = encoding?.toUpperCase() === "B64";
    return encodeURIComponent(isBase64 ? Buffer.from(value).toString("base64") : value);
  });
}
