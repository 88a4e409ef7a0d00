import { canonicalAddress, hasUserInfo } from "@intermission/ad-core/web-address";
import { z } from "zod";
import { parseTrustProxy, trustProxyForm } from "./client-address.ts";
import { StartFault } from "./start-fault.ts";

/** An http(s) address without a user name or password, in canonical form, without a final slash. */
export function webAddress(error: z.core.$ZodURLParams["error"]) {
  return z
    .url({ protocol: /^https?$/, error })
    .refine((url) => !hasUserInfo(url), "must not hold a user name or password")
    .transform(canonicalAddress);
}

/** A required `webAddress`; a missing one is explained by what it is. */
export function requiredAddress(whatItIs: string) {
  return webAddress(({ input }) =>
    input === undefined ? `is missing; it is ${whatItIs}` : `must be an http(s) address; it is ${whatItIs}`,
  );
}

const portForm = "must be a whole number from 0 to 65535";

/** PORT and METRICS_PORT. */
export const portNumber = z.coerce.number({ error: portForm }).int(portForm).min(0, portForm).max(65_535, portForm);

const levels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

/** LOG_LEVEL. */
export const logLevel = z.enum(levels, `must be one of ${levels.join(", ")}`).default("info");

/** TRUST_PROXY. */
export const trustedProxies = z
  .string()
  .transform(parseTrustProxy)
  .refine((trusted) => trusted !== undefined, { error: trustProxyForm });

/** Reads settings from environment variables. Throws a `StartFault` that names every fault. */
export function readSettings<Schema extends z.ZodType>(
  schema: Schema,
  environment: NodeJS.ProcessEnv,
): z.output<Schema> {
  const parsed = schema.safeParse(withoutEmpty(environment));
  if (!parsed.success) throw settingsFault(faultsOf(parsed.error));
  return parsed.data;
}

/** A line for each fault, which begins with the variable's name. */
export function settingsFault(faults: readonly string[]): StartFault {
  return new StartFault(`The configuration has faults:\n${faults.map((fault) => `  ${fault}`).join("\n")}`);
}

export function faultsOf(error: z.ZodError | undefined): string[] {
  return (error?.issues ?? []).map((issue) => `${issue.path.join(".")} ${issue.message}`);
}

/** `NAME=` in an env file means that the variable is not set. */
export function withoutEmpty(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
}
