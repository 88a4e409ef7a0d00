import { codeRandomBytes, newCode } from "@intermission/ad-core/code";
import type { Bot } from "@intermission/operator-api/bots";
import { type CommitGroup, groupCommits } from "@intermission/postgres/group-commits";
import { type Database, statement } from "@intermission/postgres/open-database";
import { rowParameters } from "@intermission/postgres/row-parameters";
import { randomBytes } from "@intermission/server/random-bytes";

export interface IssueCodeInput {
  bot: Pick<Bot, "botId" | "codePrefix" | "codeLifetimeSeconds">;
  userId: string;
  /** The publisher's own key; each reference has its own code. */
  reference?: string | undefined;
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

const wantedRows = rowParameters({
  position: "integer",
  bot_id: "text",
  user_id: "text",
  reference: "text",
  code: "text",
  issued_at: "timestamptz",
  expires_at: "timestamptz",
});

/** The times are null if the wanted code was issued: the caller has them. */
interface IssuedRow {
  code: string;
  issuedAt: Date | null;
  expiresAt: Date | null;
}

const issue = statement<IssuedRow>(
  "codes.issue",
  `with wanted as (${wantedRows.table}),
  given as (
    insert into current_codes as kept (bot_id, user_id, reference, code, issued_at, expires_at)
    select bot_id, user_id, reference, code, issued_at, expires_at from wanted order by position
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
    insert into codes (bot_id, code, user_id, reference, issued_at, expires_at)
    select given.bot_id, given.code, given.user_id, given.reference, given.issued_at, given.expires_at
    from given join wanted using (code)
  )
  select given.code, case when given.code <> wanted.code then given.issued_at end as "issuedAt",
    case when given.code <> wanted.code then given.expires_at end as "expiresAt"
  from wanted join given using (bot_id, user_id, reference) order by position`,
);

type WantedCode = IssueCodeInput & { code: string };

/** The codes of a store. Those that are wanted at the same time are issued in one commit. */
export interface Codes {
  readonly database: Database;
  readonly issuing: CommitGroup<WantedCode, IssuedCode>;
}

export function openCodes(database: Database): Codes {
  const issuing = groupCommits<WantedCode, IssuedCode>({
    run: (batch) => writeBatch(database, batch),
    mergeBy: ({ bot, userId, reference = "" }) => `${bot.botId} ${userId} ${reference}`,
  });
  return { database, issuing };
}

/** The user's code: the current one while enough of its lifetime is left, else a new one. Resolves after the commit. */
export async function issueCode({ issuing }: Codes, input: IssueCodeInput, makeCode = randomCode): Promise<IssuedCode> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await issuing.submit({ ...input, code: makeCode(input.bot.codePrefix) });
    } catch (error) {
      // With 70 random bits a collision is practically impossible, and a broken random source must not be retried forever.
      if (attempt === 3 || !isTaken(error)) throw error;
    }
  }
}

/** Made of 70 random bits. */
export function randomCode(prefix: string): string {
  return newCode(prefix, randomBytes(codeRandomBytes));
}

async function writeBatch(database: Database, batch: readonly WantedCode[]): Promise<IssuedCode[]> {
  const wanted = batch.map(({ bot, userId, reference = "", code, now }, position) => ({
    position,
    bot_id: bot.botId,
    user_id: userId,
    reference,
    code,
    issued_at: now,
    expires_at: expiryOf(now, bot.codeLifetimeSeconds),
  }));
  const issued = await database.run(issue, wantedRows.values(wanted));
  return issued.flatMap(({ code, issuedAt, expiresAt }, index) => {
    const asked = wanted[index];
    return asked ? [{ code, issuedAt: issuedAt ?? asked.issued_at, expiresAt: expiresAt ?? asked.expires_at }] : [];
  });
}

/** Clients read whole seconds; rounded up, so that a lifetime is never cut short. */
export function expiryOf(now: Date, lifetimeSeconds: number): Date {
  return new Date(Math.ceil(now.getTime() / 1000 + lifetimeSeconds) * 1000);
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && "constraint" in error && error.constraint === "codes_pkey";
}
