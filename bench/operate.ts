import type { BenchStack } from "./bench-stack.ts";

/** A call of the operator's API. */
export async function operate(
  stack: BenchStack,
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

/** A bot without an address for webhooks: what it earns is held, so that no delivery runs beside what is measured. */
export async function addBenchBot(stack: BenchStack, botId: string): Promise<string> {
  const added = await operate(stack, "POST", "/bots", {
    botId,
    name: `Bench ${botId}`,
    cooldownSeconds: 0,
    dailyCap: 1000,
  });
  if (added.token === undefined) throw new Error("the new bot came without its token");
  return added.token;
}

let addresses = 0;

/** A visitor's address that no one had before: clicks of one address are limited. */
export function nextAddress(): string {
  addresses += 1;
  return `11.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`;
}
