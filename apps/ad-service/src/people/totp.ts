import { Secret, TOTP } from "otpauth";

const PERIOD_SECONDS = 30;
export const TOTP_DIGITS = 6;
/** Steps before and after the present one: for a clock that is half a minute off, and for the time of typing. */
const WINDOW = 1;

/** 160 random bits in base 32, as authenticator apps take them. */
export function newTotpSecret(): string {
  return new Secret({ size: 20 }).base32;
}

/** The address that an authenticator app reads from a QR code. */
export function totpUri(secret: string, email: string): string {
  return totpOf(secret, email).toString();
}

/** The step of a valid code: it may be accepted once, so it must be higher than the last accepted one. */
export function totpStep(secret: string, code: string, now: Date): number | undefined {
  const delta = totpOf(secret).validate({ token: code, timestamp: now.getTime(), window: WINDOW });
  return delta === null ? undefined : Math.floor(now.getTime() / 1000 / PERIOD_SECONDS) + delta;
}

function totpOf(secret: string, label = ""): TOTP {
  return new TOTP({ issuer: "Intermission", label, secret: Secret.fromBase32(secret), period: PERIOD_SECONDS });
}
