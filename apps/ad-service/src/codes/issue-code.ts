import { CODE_RANDOM_BYTES, newCode } from "@intermission/ad-core/code";
import type { Bot } from "@intermission/operator-api/bots";
import { type CommitGroup, groupCommits } from "@intermission/postgres/group-commits";
import { type Database, statement } from "@intermission/postgres/open-database";
import { isTakenIn } from "@intermission/postgres/partitions";
import { rowParameters } from "@intermission/postgres/row-parameters";
import { randomBytes } from "@intermission/server/random-bytes";

export interface IssueCodeInput {
  bot: Pick<Bot, "botId" | "codePrefix" | "codeLifetimeSeconds">;
  userId: string;
  /** The publisher's own key; each reference has its own code. */
  reference?: string | undefined;
  /** The channel or group that a view lets the user into. */
  joinTitle?: string | undefined;
  now: Date;
}

export interface IssuedCode {
  code: string;
  issuedAt: Date;
  /** Rounded up to a whole second. */
  expiresAt: Date;
}

/*
 * A code is issued again while it has earned nothing and enough of its lifetime is left. An event that commits while this
 * statement runs is not visible: then the code counts as issued just before it earned.
 */
export const isKept = `not kept.is_withheld
  and kept.expires_at - excluded.issued_at >= greatest(interval '60 s', (kept.expires_at - kept.issued_at) / 4)
  and not exists (select from events where events.bot_id = kept.bot_id and events.code = kept.code)`;

const requestedRows = rowParameters({
  position: "integer",
  bot_id: "text",
  user_id: "text",
  reference: "text",
  join_title: "text",
  code: "text",
  issued_at: "timestamptz",
  expires_at: "timestamptz",
});

/** The times are null if the requested code was issued: the caller has them. */
interface IssuedRow {
  code: string;
  issuedAt: Date | null;
  expiresAt: Date | null;
}

const issue = statement<IssuedRow>(
  "codes.issue",
  `with requested as (${requestedRows.table}),
  stored as (
    insert into current_codes as kept (bot_id, user_id, reference, code, issued_at, expires_at)
    select bot_id, user_id, reference, code, issued_at, expires_at from requested order by position
    -- A kept row is updated too: only then does the statement see a row that was written after it began.
    on conflict (bot_id, user_id, reference) do update set
      (code, issued_at, expires_at, is_withheld) = (
        select case when is_kept then kept.code else excluded.code end,
          case when is_kept then kept.issued_at else excluded.issued_at end,
          case when is_kept then kept.expires_at else excluded.expires_at end,
          false
        from (select ${isKept} as is_kept offset 0) as judged
      )
    returning bot_id, user_id, reference, code, issued_at, expires_at
  ),
  fresh as (
    insert into codes (bot_id, code, user_id, reference, join_title, issued_at, expires_at)
    select stored.bot_id, stored.code, stored.user_id, stored.reference, join_title, stored.issued_at, stored.expires_at
    from stored join requested using (code)
  )
  select stored.code, case when stored.code <> requested.code then stored.issued_at end as "issuedAt",
    case when stored.code <> requested.code then stored.expires_at end as "expiresAt"
  from requested join stored using (bot_id, user_id, reference) order by position`,
);

type RequestedCode = IssueCodeInput & { code: string };

/** The codes of a store. Those that are requested at the same time are issued in one commit. */
export interface Codes {
  readonly database: Database;
  readonly issuing: CommitGroup<RequestedCode, IssuedCode>;
}

export function openCodes(database: Database): Codes {
  const issuing = groupCommits<RequestedCode, IssuedCode>({
    name: "codes",
    run: (batch) => writeBatch(database, batch),
    mergeBy: ({ bot, userId, reference = "" }) => `${bot.botId} ${userId} ${reference}`,
  });
  return { database, issuing };
}

/** The user's code: the current one while enough of its lifetime is left, else a new one. Resolves after the commit. */
export async function issueCode({ issuing }: Codes, input: IssueCodeInput, makeCode = randomCode): Promise<IssuedCode> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await issuing.submit({ ...input, code: makeCode(input.bot.codePrefix, input.now) });
    } catch (error) {
      // With 70 random bits a collision is practically impossible, and a broken random source must not be retried forever.
      if (attempt === 3 || !isTaken(error)) throw error;
    }
  }
}

/** Made of 70 random bits, and issued at `now`. */
export function randomCode(prefix: string, now: Date): string {
  return newCode(prefix, randomBytes(CODE_RANDOM_BYTES), now);
}

async function writeBatch(database: Database, batch: readonly RequestedCode[]): Promise<IssuedCode[]> {
  const requested = batch.map(({ bot, userId, reference = "", joinTitle, code, now }, position) => ({
    position,
    bot_id: bot.botId,
    user_id: userId,
    reference,
    join_title: joinTitle,
    code,
    issued_at: now,
    expires_at: expiryOf(now, bot.codeLifetimeSeconds),
  }));
  const issued = await database.run(issue, requestedRows.values(requested));
  return issued.flatMap(({ code, issuedAt, expiresAt }, index) => {
    const request = requested[index];
    return request
      ? [{ code, issuedAt: issuedAt ?? request.issued_at, expiresAt: expiresAt ?? request.expires_at }]
      : [];
  });
}

/** Clients read whole seconds; rounded up, so that a lifetime is never cut short. */
export function expiryOf(now: Date, lifetimeSeconds: number): Date {
  return new Date(Math.ceil(now.getTime() / 1000 + lifetimeSeconds) * 1000);
}

function isTaken(error: unknown): boolean {
  return isTakenIn("codes", error);
}
