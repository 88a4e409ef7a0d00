/** Apart from the vocabulary, which screens load with the first fault. */
import { TELEGRAM_ID } from "@intermission/ad-core/wire-fields";
import type { FieldFault, FieldFaultCode, FieldFaultValues } from "./field-faults.ts";

/** A fault with the values that its sentence needs: without one, it does not compile. */
export function fieldFault<Code extends FieldFaultCode>(
  code: Code,
  ...[values]: keyof FieldFaultValues<Code> extends never ? [] : [values: FieldFaultValues<Code>]
): FieldFault & Record<string, unknown> {
  return { code, values: values ?? {} };
}

/** The forms of text, by the fault of other text. The `regex` of a field that people write is one of them. */
export const forms = {
  /** Of ads.txt 1.1: a domain, an account, the relationship, and where there is one the id of the certification. */
  ADS_TXT_RECORD:
    /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,10}[a-z][a-z0-9-]{0,61}[a-z0-9], [^\s,;#]{1,128}, (?:DIRECT|RESELLER)(?:, [^\s,;#]{1,64})?$/,
  BOT_TOKEN: /^[1-9][0-9]{4,15}:[A-Za-z0-9_-]{20,100}$/,
  COUNTRY_CODE: /^[A-Z]{2}$/,
  CURRENCY_CODE: /^[A-Z]{3}$/,
  DAY: /^20\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/,
  DOMAIN: /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,10}[a-z][a-z0-9-]{0,61}[a-z0-9]$/,
  ERID: /^[A-Za-z0-9_-]{4,64}$/,
  HEX_KEY: /^[0-9a-f]{8}$/,
  /** Three numbers of up to three digits (ORD-A's API v2, "Creatives": `kktu`). */
  KKTU: /^[1-9]\d{0,2}\.[1-9]\d{0,2}\.[1-9]\d{0,2}$/,
  LANGUAGE_CODE: /^[a-z]{2,3}$/,
  MONTH: /^20\d\d-(0[1-9]|1[0-2])$/,
  NAME_WORD: /^[a-z][a-z0-9-]{0,31}$/,
  // Nor characters that change the direction of the text after them. Persian and Indic words need U+200C and U+200D, which
  // join letters or keep them apart.
  CONTROL_CHARACTERS: /^(?:[\u200c\u200d]|[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}])*$/u,
  PERCENT: /^\d{1,2}(?:\.\d{1,2})?$/,
  REPORT_ADDRESS: /^[\w*.%+=&-]*$/,
  ROUBLES: /^\d{1,12}(?:\.\d{2})?$/,
  /** Another service's key, as sent in a header. */
  SERVICE_KEY: /^[\x21-\x7e]{1,512}$/,
  /** Of an authenticator app, or a recovery code in base 32. */
  SIGN_IN_CODE: /^(?:\d{6}|[a-z2-7]{16})$/,
  TAG_ID: /^[0-9a-f]{16}$/,
  /** Includes the links that Telegram copies for a channel and for its messages. */
  TELEGRAM_CHANNEL:
    /^-[1-9][0-9]{0,19}$|^@[A-Za-z]\w{3,31}$|^(?:https:\/\/)?t\.me\/(?:c\/[1-9]\d{0,15}|[A-Za-z]\w{3,31})(?:\/\d{1,15}){0,2}$/,
  TELEGRAM_CHAT: /^-?[1-9][0-9]{0,19}$|^@[A-Za-z]\w{3,31}$/,
  TELEGRAM_ID,
  TOKEN: /^[\w-]{43}$/,
  TOTP_CODE: /^\d{6}$/,
  USERNAME: /^[A-Za-z]\w{3,31}$/,
} as const satisfies Partial<Record<FieldFaultCode, RegExp>>;
