import { z } from "zod";
import { jsonIn } from "../operator/call-operator.ts";

const KEY = "console-openid";
const kept = z.object({ purpose: z.enum(["sign-in", "link"]), path: z.string() });

/** What the page was doing when it sent the browser to a provider. */
type OpenIdReturn = z.output<typeof kept>;

/**
 * Sends the browser to a provider. Where the person was is kept by this tab, and in no address, so that nobody can make a
 * link that leads elsewhere after signing in.
 */
export function leaveForProvider(address: string, purpose: OpenIdReturn["purpose"]): void {
  const { pathname, search } = location;
  const path = pathname.endsWith("/invitation") ? "/console/" : `${pathname}${search}`;
  sessionStorage.setItem(KEY, JSON.stringify({ purpose, path } satisfies OpenIdReturn));
  location.assign(address);
}

/** Without a note of this tab: somebody opened the address of the answer by itself. */
export function openIdReturn(): OpenIdReturn {
  const found = kept.safeParse(jsonIn(sessionStorage.getItem(KEY) ?? "")).data;
  const isOfConsole = found !== undefined && /^\/console(\/|\?|$)/.test(found.path);
  return isOfConsole ? found : { purpose: "sign-in", path: "/console/" };
}

export function forgetOpenIdReturn(): void {
  sessionStorage.removeItem(KEY);
}
