import type { Visitor } from "@intermission/server/visitor";
import type { AdRequest } from "../ad-selection/eligibility.ts";
import type { TapSuspicion } from "./tap-token.ts";

/** One request of a direct link. */
export interface Visit {
  code: string;
  visitor: Visitor;
  /** The visitor tapped the button of our own page. */
  tap: { suspicion: TapSuspicion | undefined } | undefined;
  userAgent: string;
  acceptLanguage: string | undefined;
  /** Null: unknown; undefined: no source of countries is configured. */
  country?: string | null | undefined;
  hashes: AddressHashes;
  now: Date;
}

/** 128-bit hashes: of one address with the keys of two days, and of its network (/24, /56) with today's key. */
export interface AddressHashes {
  today: string;
  yesterday: string;
  network: string;
}

/** A visit, with everything that decides about it and is known outside the database. */
export interface JudgedVisit extends Visit {
  clickId: string;
  /** The user for whom an ad is chosen. `seen` stays empty until a campaign's cap per user matters. */
  request: AdRequest;
  /** For bots that pay a code once: the new code of a view that began with this one, once the click is paid. */
  replacementCode: string | undefined;
  /** The trace of the visit, which its event keeps; null where nothing is traced. */
  traceparent: string | null;
}
