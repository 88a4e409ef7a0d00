// In a file of its own: the router's types name it, and must not reach Node's or a store's types.

/** What happens to events without an id: see TWO_FIELD_EVENTS. */
export const twoFieldModes = ["off", "match"] as const;
export type TwoFieldMode = (typeof twoFieldModes)[number];

export interface Payout {
  readonly rewarded: number;
  readonly directLink: number;
  readonly task: number;
  /** Paid views and clicks of a user in one UTC day; undefined: no cap. */
  readonly dailyCap: number | undefined;
  readonly perCode: "once" | "each";
}

/** Settings of a bot in the table, as operators give and see them. */
export interface BotSettings {
  username: string | null;
  miniAppName: string | null;
  rewardRewarded: number;
  rewardDirectLink: number;
  rewardTask: number;
  dailyCap: number | null;
  payPerCode: "once" | "each";
  twoFieldEvents: TwoFieldMode;
}

/** Undefined ones stay as they are. */
export type SettingsChange = { [Name in keyof BotSettings]?: BotSettings[Name] | undefined };

/** A bot as operators see it: without its secrets. */
export interface ListedBot extends BotSettings {
  botId: string;
  /** `environment`: the variables of this server, which take precedence over the bot's row. */
  state: "served" | "removed" | "environment";
  adTokens: number;
  backendKeys: number;
  addedAt: string | null;
  removedAt: string | null;
}

export interface NewBot {
  botId: string;
  adToken: string;
  telegramToken: string;
  settings: SettingsChange;
}

export type BotChange =
  | { kind: "settings"; settings: SettingsChange }
  /** Adds a new key before the last one, which stays valid until the next rotation, unless it is dropped. */
  | { kind: "backend-key"; dropsPrevious: boolean }
  | { kind: "ad-token"; token: string; dropsPrevious: boolean }
  | { kind: "telegram-token"; token: string }
  /** The ledger stays; the secrets are deleted. */
  | { kind: "removal" };

export type BotAnswer =
  /** `backendApiKey`: the new key, which is never shown again. */
  | { outcome: "done"; bot: ListedBot; backendApiKey?: string }
  | { outcome: "refused"; code: "NOT_FOUND" | "CONFLICT" | "BAD_REQUEST"; message: string };

/** For operators, by the socket in the data folder or on the store itself. */
export interface BotVerbs {
  listBots(): Promise<ListedBot[]>;
  addBot(newBot: NewBot): Promise<BotAnswer>;
  changeBot(botId: string, change: BotChange): Promise<BotAnswer>;
}
