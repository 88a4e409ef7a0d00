import type { DisabledReason } from "@intermission/operator-api/endpoints";

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

/** SQL for when an unblocked endpoint's backoff ends or its breaker allows a probe, whichever is later; else null. */
export const endpointNotBefore = `nullif(
    greatest(
      case when endpoints.backoff_until > now() then endpoints.backoff_until else '-infinity' end,
      case when endpoints.breaker <> 'closed' and endpoints.probe_at > now() then endpoints.probe_at else '-infinity' end
    ),
    '-infinity'
  )`;
