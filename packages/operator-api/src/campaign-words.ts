/**
 * The closed lists of words of a campaign. Schemas, SQL, options of commands, filters and forms read these lists, so that a word
 * added here reaches each of them, and the compiler names what must handle it.
 */

/** What is shown for a code: a video with a reward, or a link that is followed. */
export const adFormats = ["rewarded", "direct_link"] as const;
/** What a campaign buys: ads, ads between two scenes of a game that reward nobody, or tasks: users who join a channel and stay. */
export const campaignFormats = [...adFormats, "interstitial", "task"] as const;
export type CampaignFormat = (typeof campaignFormats)[number];

/** The formats of what is watched: a creative in the player. Each has the name of the event that it earns. */
export const viewFormats = ["rewarded", "interstitial"] as const satisfies readonly CampaignFormat[];
export type ViewFormat = (typeof viewFormats)[number];

export const isViewFormat = (format: CampaignFormat): format is ViewFormat =>
  viewFormats.some((ofViews) => ofViews === format);

/** When a task is paid: as soon as the user has joined, or once the user has stayed. */
export const taskPayments = ["joined", "kept"] as const;
export type TaskPayment = (typeof taskPayments)[number];

/** The serving order: a campaign of a later priority is shown when none of an earlier one can be. */
export const campaignPriorities = ["sponsorship", "standard", "house"] as const;
export type CampaignPriority = (typeof campaignPriorities)[number];

/** `even`: spread over the day; `asap`: as fast as requests come. */
export const pacings = ["even", "asap"] as const;

/** `archived`: the campaign no longer runs, and only its statistics remain of interest. */
export const campaignStatuses = ["active", "paused", "archived"] as const;
export type CampaignStatus = (typeof campaignStatuses)[number];

/** What an active campaign does now: where it does not run, why. */
export const phasesOfActive = ["running", "planned", "ended", "spent", "unfunded", "unapproved", "stopped"] as const;

/** Phases of an advertiser's own campaign before it may run. */
export const phasesOfReview = ["draft", "waiting", "refused"] as const;

/** The current phase of a campaign: of its delivery if active, of its review, or its status. */
export const campaignPhases = [
  ...phasesOfActive,
  ...phasesOfReview,
  "paused-by-operator",
  "paused-by-advertiser",
  "archived",
] as const;

/** The client of the user: Telegram's own names are mapped to these. */
export const platforms = ["android", "ios", "desktop", "web"] as const;
export type Platform = (typeof platforms)[number];

/** What lists of campaigns are sorted by. `state`: by the place of what a campaign does now in `campaignPhases`. */
export const campaignSorts = ["name", "state", "spent", "pace", "ends", "daily", "total"] as const;
export type CampaignSort = (typeof campaignSorts)[number];
