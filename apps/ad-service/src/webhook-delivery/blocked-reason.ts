import { hasTokens } from "./sweep-deliveries.ts";

/** Why nothing is sent to a bot's endpoint whatever is due: `operator`, `gone` and `failing` say why it is disabled. */
export type BlockedReason = "no-endpoint" | "pending" | "operator" | "gone" | "failing" | "no-token";

/** SQL for the blocked reason, null without one; to be used where `endpoints` is joined from the left. */
export const endpointBlockedReason = `case
    when endpoints.bot_id is null then 'no-endpoint'
    when endpoints.state = 'pending' then 'pending'
    when endpoints.state = 'disabled' then coalesce(endpoints.disabled_reason, 'operator')
    when not ${hasTokens} then 'no-token'
  end`;

/** SQL for the moment until which an endpoint that is not blocked rests, or until its breaker lets a probe through; else null. */
export const endpointNotBefore = `nullif(
    greatest(
      case when endpoints.rest_until > now() then endpoints.rest_until else '-infinity' end,
      case when endpoints.breaker <> 'closed' and endpoints.probe_at > now() then endpoints.probe_at else '-infinity' end
    ),
    '-infinity'
  )`;
