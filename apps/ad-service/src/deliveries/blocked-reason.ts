import type { DisabledReason } from "./endpoint-health.ts";

/** Why nothing is sent to a bot's endpoint, even if due. `operator`, `gone` and `failing` are the reasons of a disabled one. */
export type BlockedReason = "no-endpoint" | "pending" | DisabledReason | "no-token";

/** SQL for whether the bot of `endpoints` has a token to sign with. */
export const hasTokens = `exists (
      select from bot_tokens where bot_tokens.bot_id = endpoints.bot_id
        and (bot_tokens.state in ('active', 'next') or bot_tokens.state = 'retiring' and revoke_at > now())
    )`;

/** SQL for the blocked reason, null without one. Expects `endpoints` as the right side of a left join. */
export const endpointBlockedReason = `case
    when endpoints.bot_id is null then 'no-endpoint'
    when endpoints.state = 'pending' then 'pending'
    when endpoints.state = 'disabled' then coalesce(endpoints.disabled_reason, 'operator')
    when not ${hasTokens} then 'no-token'
  end`;

/** SQL for when an unblocked endpoint's rest ends or its breaker allows a probe, whichever is later; else null. */
export const endpointNotBefore = `nullif(
    greatest(
      case when endpoints.rest_until > now() then endpoints.rest_until else '-infinity' end,
      case when endpoints.breaker <> 'closed' and endpoints.probe_at > now() then endpoints.probe_at else '-infinity' end
    ),
    '-infinity'
  )`;

/** Why nothing is sent to a bot's endpoint, and the operator's next step. */
export function explainToOperator(blockedReason: BlockedReason, botId: string): string {
  const enable = `enable it with: endpoints enable ${botId}`;
  const reasons: Record<BlockedReason, string> = {
    "no-endpoint": `the bot has no address for webhooks; give it one with: bots update ${botId} --webhook-url <url>`,
    pending: `its endpoint has not answered a test 2xx yet; see what it answers with: endpoints test ${botId}`,
    operator: `its endpoint was disabled ${disabledBecause.operator}; ${enable}`,
    gone: `its endpoint was disabled ${disabledBecause.gone}; ${enable}`,
    failing: `its endpoint was disabled ${disabledBecause.failing}; ${enable}`,
    "no-token": `the bot has no token to sign with; make one with: tokens create --bot-id ${botId}`,
  };
  return reasons[blockedReason];
}

export const disabledBecause: Record<DisabledReason, string> = {
  operator: "by an operator",
  gone: "for answering only 410 Gone",
  failing: "for accepting nothing for five days",
};

const testIt = "send a test with: POST /client/v1/webhook/test";
const askOperator = "ask the operator of this service to enable it";

/** Why nothing is sent to a bot's endpoint, and the publisher's next step. */
export const explainToPublisher: Record<BlockedReason, string> = {
  "no-endpoint": "the bot has no webhook address; ask the operator of this service to set one",
  pending: `the bot's endpoint has not yet answered a test event with a 2xx status; ${testIt}`,
  operator: `the bot's endpoint was disabled by the operator of this service; ${askOperator}`,
  gone: `the bot's endpoint was disabled because it only answered 410 Gone; once it works again, ${askOperator}`,
  failing: `the bot's endpoint was disabled because it accepted nothing for five days; once it works again, ${askOperator}`,
  "no-token": "the bot has no token to sign with; ask the operator of this service for one",
};
