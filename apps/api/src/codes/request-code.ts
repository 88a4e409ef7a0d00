import { type Database, statement } from "@intermission/postgres/open-database";
import type { CreateCodeOutcome } from "@intermission/publisher/companion";
import type { AdServiceClient } from "../ad-service-client.ts";

interface Links {
  readonly miniappUrl: string;
  readonly directLinkUrl: string;
  readonly botUsername: string | null;
  readonly miniAppName: string | null;
}

export interface RequestCodeOptions {
  database: Pick<Database, "run">;
  adService: Pick<AdServiceClient, "createCode">;
  botId: string;
  links: Links;
  onUnavailable: (facts: { reason: string; detail: string }) => void;
}

// The service may return an open code again. A code that an event has already assigned to a user stays that user's.
const keepCode = statement<never>(
  "codes.keep",
  `insert into codes (bot_id, code, user_id, reference, expires_at)
values ($1, $2, coalesce((
  select user_id from ledger_entries where bot_id = $1 and code = $2
    and coalesce(reason, '') not in ('test', 'code-of-another-user') limit 1
), $3), $4, $5)
on conflict (bot_id, code) do nothing`,
);

/** Gets the user's code from the ad service and records its user before returning it. */
export async function requestCode(
  { database, adService, botId, links, onUnavailable }: RequestCodeOptions,
  { userId, reference }: { userId: string; reference: string | undefined },
): Promise<CreateCodeOutcome> {
  const requested = await adService.createCode({
    bot_id: botId,
    user_tg_id: userId,
    ...(reference === undefined ? {} : { reference }),
  });
  if (requested.outcome === "unavailable") {
    const { detail, ...answer } = requested;
    onUnavailable({ reason: answer.reason, detail });
    return answer;
  }
  const { code, expires_in, expires_at } = requested.code;
  await database.run(keepCode, [botId, code, userId, reference ?? null, expires_at]);
  return {
    outcome: "created",
    code,
    expiresInSeconds: expires_in,
    expiresAt: expires_at,
    miniappUrl: `${links.miniappUrl}/${botId}?code=${code}`,
    startappLink:
      links.botUsername && links.miniAppName
        ? `https://t.me/${links.botUsername}/${links.miniAppName}?startapp=${code}`
        : null,
    directLink: `${links.directLinkUrl}/${code}`,
  };
}
