/** The closed lists of words of a creative, in a file without schemas: every screen of the console loads them first. */

/** A stored file, a video at an address elsewhere, or a VAST tag that is requested at each opening. */
export const creativeKinds = ["file", "address", "vast"] as const;

/** `draft`: uploaded by its advertiser, who has not submitted it yet. */
export const reviewStates = ["draft", "waiting", "approved", "refused"] as const;

/** Review states of a buyer's creative. `reported`: viewers' reports have paused it. */
export const boughtReviewStates = ["waiting", "reported", "approved", "refused"] as const;
export type BoughtReviewState = (typeof boughtReviewStates)[number];

/** What lists of creatives are sorted by. */
export const creativeSorts = ["creative", "state", "advertiser", "duration", "size", "added"] as const;
export type CreativeSort = (typeof creativeSorts)[number];

/** In place of the type of a file: a bought card, which is a message with a picture or without one. */
export const CARD_TYPE = "card";
