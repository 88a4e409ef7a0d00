import { statement } from "@intermission/postgres/open-database";
import { type BackgroundLoop, startLoop } from "@intermission/server/background-loop";
import { type NoticeAdapters, sendNotice } from "./adapters.ts";
import { quietUntil } from "./enqueue-notices.ts";
import type { SentNotice } from "./messages.ts";
import { type Notice, noticeRetrySeconds } from "./notice.ts";

const LOOK_EVERY_MS = 1000;
const MAX_AT_ONCE = 16;
/** After this time another node may send: longer than an attempt can last. */
const LEASE_SECONDS = 60;

interface ClaimedNotice extends Notice {
  /** This one included. */
  attempts: number;
}

const claim = statement<ClaimedNotice>(
  "notices.claim",
  `with due as (
    select bot_id, channel from notices where due_at <= now() order by due_at limit ${MAX_AT_ONCE} for update skip locked
  )
  update notices set due_at = now() + interval '${LEASE_SECONDS} seconds', attempts = attempts + 1
  from due join notice_receivers using (bot_id, channel)
  where notices.bot_id = due.bot_id and notices.channel = due.channel
  returning notices.bot_id as "botId", notices.channel, address, notice_id as "noticeId", notices.health, reason, url,
    last_status as "lastStatus", last_error_class as "lastErrorClass", changes, occurred_at as "occurredAt", attempts`,
);

// What changed while the notice was sent is the next one, after the quiet time.
const finish = statement<never>(
  "notices.finish",
  `with ended as (
    update notice_receivers set quiet_until = ${quietUntil}, last_error = $5,
      last_sent_at = case when $5::text is null then now() else last_sent_at end
    where bot_id = $1 and channel = $2
  ),
  removed as (delete from notices where bot_id = $1 and channel = $2 and notice_id = $3)
  update notices set changes = changes - $4, attempts = 0, due_at = ${quietUntil}
  where bot_id = $1 and channel = $2 and notice_id <> $3`,
);

const postpone = statement<never>(
  "notices.postpone",
  `with ended as (update notice_receivers set last_error = $4 where bot_id = $1 and channel = $2)
  update notices set due_at = now() + make_interval(secs => $3) where bot_id = $1 and channel = $2`,
);

interface NoticeSenderDeps extends NoticeAdapters {
  log: { warn(facts: object, message: string): void; error(facts: object, message: string): void };
  everyMs?: number;
}

/** Sends due notices until it is stopped: each at least once, with bounded retries. */
export function startSendingNotices(deps: NoticeSenderDeps): BackgroundLoop {
  const { database, log, everyMs = LOOK_EVERY_MS } = deps;
  return startLoop({
    everyMs,
    async round() {
      const claimed = await database.run(claim, []);
      await Promise.all(claimed.map((notice) => sendClaimed(deps, notice)));
      return claimed.length === MAX_AT_ONCE ? 0 : undefined;
    },
    onFault: (error) => log.error({ err: error }, "notices of endpoints could not be sent; trying again"),
  });
}

async function sendClaimed(deps: NoticeSenderDeps, notice: ClaimedNotice): Promise<void> {
  const { database, log } = deps;
  const { botId, channel, noticeId, changes, attempts } = notice;
  const sent = await sendNotice(deps, notice).catch((error: unknown): SentNotice => {
    log.error({ err: error, botId, channel }, "a notice of an endpoint failed because of an internal error");
    return { outcome: "failed", error: "an internal error of this service" };
  });
  if (sent.outcome === "sent") {
    await database.run(finish, [botId, channel, noticeId, changes, null]);
    return;
  }
  const delaySeconds = noticeRetrySeconds(attempts);
  const { error } = sent;
  if (delaySeconds === undefined) {
    await database.run(finish, [botId, channel, noticeId, changes, error]);
    log.error({ botId, channel, error }, `a notice of an endpoint is given up; see: notices show ${botId}`);
  } else {
    await database.run(postpone, [botId, channel, delaySeconds, error]);
    log.warn({ botId, channel, error, attempts }, "a notice of an endpoint could not be sent; trying again");
  }
}
