import type { SecretBox } from "@intermission/server/secret-box";
import { z } from "zod";

/** As an app grant: a list of tasks stays open while its user joins a channel. */
const TASK_GRANT_SECONDS = 12 * 3600;

const content = z.object({ userId: z.string(), languageCode: z.string().optional(), endsAt: z.int() });

/** Whose list it is. */
export interface TaskUser {
  userId: string;
  languageCode: string | undefined;
}

const ownerOf = (botId: string) => `task grant of ${botId}`;

/** Encrypted and authenticated with the key of the environment, so that every node reads it and none stores it. */
export function issueTaskGrant(box: SecretBox, botId: string, { now, ...user }: TaskUser & { now: Date }): string {
  const endsAt = now.getTime() + TASK_GRANT_SECONDS * 1000;
  return box.seal(JSON.stringify({ ...user, endsAt }), ownerOf(botId)).toString("base64url");
}

export function readTaskGrant(
  box: SecretBox,
  { token, botId, now }: { token: string; botId: string; now: Date },
): ({ outcome: "valid" } & TaskUser) | { outcome: "invalid" } | { outcome: "expired" } {
  const opened = openToken(box, token, botId);
  if (opened === undefined) return { outcome: "invalid" };
  const { userId, languageCode, endsAt } = opened;
  return endsAt <= now.getTime() ? { outcome: "expired" } : { outcome: "valid", userId, languageCode };
}

function openToken(box: SecretBox, token: string, botId: string): z.infer<typeof content> | undefined {
  try {
    return content.parse(JSON.parse(box.open(Buffer.from(token, "base64url"), ownerOf(botId))));
  } catch {
    // Another key, another bot, or a changed letter.
    return undefined;
  }
}
