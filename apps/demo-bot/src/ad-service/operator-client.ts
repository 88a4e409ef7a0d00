import { z } from "zod";

const attempt = z.object({
  attempt: z.number(),
  startedAt: z.string(),
  url: z.string(),
  status: z.number().nullable(),
  errorClass: z.string().nullable(),
  totalMs: z.number().nullable(),
  responseText: z.string().nullable(),
  nextAt: z.string().nullable(),
  isReplay: z.boolean(),
});
const delivery = z.object({
  eventId: z.string(),
  createdAt: z.string(),
  state: z.string(),
  /** The bytes that each attempt sends, as text. */
  body: z.string(),
  log: z.array(attempt),
});
const endpoint = z.object({
  url: z.string().nullable(),
  state: z.enum(["pending", "active", "disabled"]).nullable(),
  backoffUntil: z.string().nullable(),
  probeAt: z.string().nullable(),
  held: z.number(),
  waiting: z.number(),
  lastStatus: z.number().nullable(),
  lastErrorClass: z.string().nullable(),
  lastAnswer: z.string().nullable(),
  tests: z.number(),
});

export type Delivery = z.output<typeof delivery>;
export type Endpoint = z.output<typeof endpoint>;

/** What the demo uses of the ad service's `/operator/v1`: the bytes of webhooks and the state of the endpoint. */
export interface Operator {
  /** Undefined if there is no such event. */
  delivery(eventId: string): Promise<Delivery | undefined>;
  endpoint(botId: string): Promise<Endpoint>;
  /** Sends a test event now. Resolves when the endpoint has answered, whatever it answered. */
  testEndpoint(botId: string): Promise<void>;
}

const ANSWER_WITHIN_MS = 20_000;

export function openOperator({ url, operatorToken }: { url: string; operatorToken: string }): Operator {
  const call = (path: string, init: { method?: string; body?: string } = {}) =>
    fetch(`${url}/operator/v1${path}`, {
      ...init,
      headers: { authorization: `Bearer ${operatorToken}`, ...(init.body && { "content-type": "application/json" }) },
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
  return {
    async delivery(eventId) {
      const response = await call(`/deliveries/${encodeURIComponent(eventId)}`);
      if (response.status === 404) return undefined;
      return delivery.parse(await answerOf(response));
    },
    endpoint: async (botId) => endpoint.parse(await answerOf(await call(`/endpoints/${botId}`))),
    async testEndpoint(botId) {
      const response = await call(`/endpoints/${botId}/test`, { method: "POST", body: "{}" });
      // 409: the automatic test is under way, which answers the same question.
      if (response.status !== 409) await answerOf(response);
      else await response.body?.cancel();
    },
  };
}

async function answerOf(response: Response): Promise<unknown> {
  if (response.ok) return response.json();
  await response.body?.cancel();
  throw new Error(`the ad service answered ${response.status} to ${new URL(response.url).pathname}`);
}
