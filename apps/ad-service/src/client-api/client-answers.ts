import type {
  CreateCodeResponse,
  DescribeCodeResponse,
  ListEventsResponse,
  TestWebhookResponse,
} from "@intermission/ad-core/client-api";
import type { DescribedCode } from "../codes/describe-code.ts";
import type { IssuedCode } from "../codes/issue-code.ts";
import type { EventsPage } from "../webhook-delivery/list-events.ts";
import type { EndpointTestOutcome } from "../webhook-endpoints/test-endpoint.ts";

/** Base addresses that a code is appended to, without a slash at their ends. */
export interface CodeLinks {
  readonly directLinkUrl: string;
  readonly miniappUrl: string;
}

export function createCodeAnswer(
  { code, expiresAt }: IssuedCode,
  { botId, links, now }: { botId: string; links: CodeLinks; now: Date },
): CreateCodeResponse {
  const secondsLeft = Math.floor((expiresAt.getTime() - now.getTime()) / 1000);
  return {
    code,
    expires_in: Math.max(0, secondsLeft),
    expires_at: expiresAt.toISOString().replace(/\.\d+Z$/, "Z"),
    direct_link: `${links.directLinkUrl}/${code}`,
    miniapp_url: `${links.miniappUrl}/${botId}?code=${code}`,
  };
}

export function describeCodeAnswer(code: DescribedCode): DescribeCodeResponse {
  return {
    code: code.code,
    bot_id: code.botId,
    user_tg_id: code.userId,
    ...(code.reference !== null && { reference: code.reference }),
    issued_at: code.issuedAt.toISOString(),
    expires_at: code.expiresAt.toISOString(),
    is_expired: code.isExpired,
    earned: code.events.map(({ event, eventId, occurredAt }) => ({
      event,
      event_id: eventId,
      occurred_at: occurredAt.toISOString(),
    })),
    sessions: code.sessions.map((session) => ({
      session_id: session.sessionId,
      state: session.state,
      opened_at: session.openedAt.toISOString(),
      watched_at: session.watchedAt?.toISOString() ?? null,
      closed_at: session.closedAt?.toISOString() ?? null,
      accepted_ms: session.acceptedMs,
      duration_ms: session.durationMs,
      refusals: session.refusals,
      ...(session.suspicions.length > 0 && { suspicions: session.suspicions }),
      ...(session.review && { review: session.review }),
    })),
    clicks: code.clicks,
    requests: code.requests,
  };
}

export function listEventsAnswer(page: Extract<EventsPage, { outcome: "page" }>): ListEventsResponse {
  return { events: page.events, next: page.next, has_more: page.hasMore };
}

export function testWebhookAnswer(tested: Extract<EndpointTestOutcome, { outcome: "tested" }>): TestWebhookResponse {
  const { eventId, isDelivered, status, errorClass, answer, phases, endpointState } = tested;
  return {
    event_id: eventId,
    delivered: isDelivered,
    ...(status !== null && { status }),
    ...(errorClass !== null && { error_class: errorClass }),
    ...(answer !== null && { answer }),
    total_ms: Math.round(phases.totalMs ?? 0),
    ...(endpointState !== null && { endpoint: endpointState }),
  };
}
