/**
 * What the app tells a page that shows it in a frame: which screen it has come to. The words are those of the screens, and the
 * compiler compares them where they are told.
 */
export type News =
  | { readonly phase: "opening" | "watch" | "closed" | "unreachable" | "unplayable" }
  | { readonly phase: "refused"; readonly code: string }
  | { readonly phase: "wait"; readonly reason: WaitNews; readonly untilMs: number }
  | { readonly phase: "stage"; readonly stage: StageNews; readonly positionMs: number }
  | { readonly phase: "reward"; readonly reward: RewardNews; readonly eventId: string | undefined };

export type WaitNews = "no-ad" | "cooldown" | "daily-cap";

/** The stages of an ad, from the offer to its end. */
export type StageNews =
  | "offer"
  | "playing"
  | "confirming"
  | "watched"
  | "closed"
  | "limited"
  | "incomplete"
  | "broken"
  | "left"
  | "superseded"
  | "over";

export type RewardNews =
  | "checking"
  | "on-its-way"
  | "delayed"
  | "credited"
  | "delivered"
  | "refused"
  | "undelivered"
  | "held"
  | "view-refused"
  | "not-counted";
