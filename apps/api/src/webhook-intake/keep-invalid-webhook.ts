import { createHash } from "node:crypto";
import { type Runner, statement } from "@intermission/postgres/open-database";

/** Enough to identify it; the sender has the rest. */
const keptCharacters = 4096;

// The bytes are the key: repeats stay one row.
const keep = statement<unknown>(
  "keep-invalid-webhook",
  `insert into receipts as kept (bot_id, event_id, raw_body, signature, invalid_reason)
values ($1, $2, $3, decode(substr($4, 8), 'hex'), $5)
on conflict (bot_id, event_id) do update set duplicates = kept.duplicates + 1, last_duplicate_at = now()`,
);

/**
 * Keeps a webhook that was signed with a token of ours but is not an event for us, so that an operator can see why it
 * was refused.
 */
export async function keepInvalidWebhook(
  runner: Pick<Runner<unknown>, "run">,
  botId: string,
  { body, signatureHeader, reason }: { body: Uint8Array; signatureHeader: string; reason: string },
): Promise<void> {
  const id = `invalid:${createHash("sha256").update(body).digest("hex")}`;
  const text = Buffer.from(body).toString("utf8").replaceAll("\0", "").slice(0, keptCharacters).toWellFormed();
  await runner.run(keep, [botId, id, text, signatureHeader, reason.slice(0, 500)]);
}
