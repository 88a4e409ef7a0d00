/** A client of the companion API: plain HTTP, without tRPC. For the bot's backend, which has the API key. */
export {
  type Companion,
  CompanionError,
  type CompanionOptions,
  type CreateCodeOutcome,
  createCompanion,
  type RewardEntry,
  type RewardPage,
  type SpendOutcome,
} from "./create-companion.ts";
export { type FollowOptions, followLedger, followRewards, type Reward } from "./follow-rewards.ts";
export type { CursorStore } from "./reconcile.ts";
