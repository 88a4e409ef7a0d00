import type { SecretBox } from "@intermission/server/secret-box";
import { z } from "zod";

/**
 * What this service must find again when the browser comes back within some minutes, as the challenge that it was given:
 * kept by the browser, readable by this service alone, so that visitors write nothing to the store. `SameSite=Strict` is
 * enough, since the console sends the answer itself.
 */
export interface SealedCookie<Value> {
  readonly name: `__Host-${string}`;
  readonly seconds: number;
  readonly schema: z.ZodType<Value>;
}

const sealed = z.object({ value: z.unknown(), expiresAt: z.number() });

/** The value of `Set-Cookie`. */
export function writeSealedCookie<Value>(
  secretBox: SecretBox,
  { name, seconds }: SealedCookie<Value>,
  { value, now }: { value: Value; now: Date },
): string {
  const text = JSON.stringify({ value, expiresAt: now.getTime() + seconds * 1000 });
  const bytes = secretBox.seal(text, name).toString("base64url");
  return `${name}=${bytes}; Path=/; Max-Age=${seconds}; Secure; HttpOnly; SameSite=Strict`;
}

/** Undefined: there is none, it has expired, or it was not made by this service. */
export function readSealedCookie<Value>(
  secretBox: SecretBox,
  { name, schema }: SealedCookie<Value>,
  { header = "", now }: { header: string | undefined; now: Date },
): { value: Value; expiresAt: Date } | undefined {
  const [, bytes] = new RegExp(`(?:^|;) *${name}=([\\w-]{1,4096}) *(?:;|$)`).exec(header) ?? [];
  const opened = sealed.safeParse(bytes === undefined ? undefined : readSealed(secretBox, bytes, name)).data;
  if (opened === undefined || opened.expiresAt <= now.getTime()) return undefined;
  const { data: value, success } = schema.safeParse(opened.value);
  return success ? { value, expiresAt: new Date(opened.expiresAt) } : undefined;
}

export function endedSealedCookie({ name }: Pick<SealedCookie<unknown>, "name">): string {
  return `${name}=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Strict`;
}

function readSealed(secretBox: SecretBox, bytes: string, name: string): unknown {
  try {
    return JSON.parse(secretBox.open(Buffer.from(bytes, "base64url"), name));
  } catch {
    // Another key, or not a cookie of this service: as good as none.
    return undefined;
  }
}
