import type { AdDatabase } from "../ad-database.ts";
import type { Bot } from "../bots/rows.ts";

export interface IssueCodeInput {
  bot: Pick<Bot, "botId" | "codePrefix" | "codeLifetimeSeconds">;
  userId: string;
  /** The publisher's own key: codes of different references are different codes. */
  reference?: string | undefined;
  now: Date;
}

export interface IssuedCode {
  code: string;
  issuedAt: Date;
  /** A whole second. */
  expiresAt: Date;
}

/** The user's code: the one they have while it is good for a while yet, else a new one. Resolves after the commit. */
export async function issueCode(_database: AdDatabase, _input: IssueCodeInput): Promise<IssuedCode> {
  throw new Error("not written yet");
}
