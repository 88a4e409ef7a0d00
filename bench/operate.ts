import type { DemoStack } from "../scripts/demo-stack.ts";

/** Calls the operator's API. */
export async function operate(
  stack: Pick<DemoStack, "urls" | "secrets">,
  method: string,
  path: string,
  body: object,
): Promise<{ token?: string }> {
  const response = await fetch(`${stack.urls.adService}/operator/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${stack.secrets.operatorToken}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
  return response.json();
}

/** Adds a bot whose endpoint is enabled without a test webhook. Its users have no cooldown. */
export async function addBenchBot(
  stack: Pick<DemoStack, "urls" | "secrets">,
  { botId, webhookUrl, maxInFlight }: { botId: string; webhookUrl: string; maxInFlight: number },
): Promise<{ botId: string; token: string }> {
  const settings = { name: `Bench ${botId}`, cooldownSeconds: 0, dailyCap: 1000, webhookUrl };
  const { token } = await operate(stack, "POST", "/bots", { botId, ...settings });
  if (token === undefined) throw new Error("the new bot came without its token");
  await operate(stack, "PATCH", `/endpoints/${botId}`, { maxInFlight });
  await operate(stack, "POST", `/endpoints/${botId}/enable`, { skipTest: true }).catch((error) => {
    // Its first test may have been answered already.
    if (!String(error).includes("ENDPOINT_ACTIVE")) throw error;
  });
  return { botId, token };
}
