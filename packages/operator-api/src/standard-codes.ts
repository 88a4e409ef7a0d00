import { z } from "zod";
import type { FieldFaultCode } from "./field-faults.ts";
import { fieldFault, forms } from "./field-forms.ts";

/** Codes of standards, as the runtime's own tables (ICU) have them: a code that does not exist would silently match no user. */

/** Made once: each takes 0.1 ms. */
const names = {
  region: new Intl.DisplayNames("en", { type: "region", fallback: "none" }),
  language: new Intl.DisplayNames("en", { type: "language", fallback: "none" }),
};

/** Groups of countries, unknown, and the two pseudo-locales of tests. */
const notCountries = new Set(["EU", "EZ", "QO", "UN", "XA", "XB", "ZZ"]);

/** Whether two capital letters are a country of ISO 3166, or Kosovo's `XK`. */
export function isCountry(code: string): boolean {
  return !notCountries.has(code) && names.region.of(code) !== undefined;
}

/** Whether two or three small letters are a language of ISO 639, also by a former code such as `iw`. */
export function isLanguage(code: string): boolean {
  return names.language.of(code) !== undefined;
}

const currencyRule = "must be an ISO 4217 currency code in capitals, such as EUR";

export const currencyCode = codeOf("CURRENCY_CODE", currencyRule, (code) =>
  Intl.supportedValuesOf("currency").includes(code) ? undefined : "",
);

/** Such as `UK`, for which the standard has `GB`. */
export const countryCode = codeOf(
  "COUNTRY_CODE",
  "must be an ISO 3166 country code in capitals, such as DE",
  (code) => {
    const { region = code } = new Intl.Locale(`und-${code}`);
    return isCountry(code) ? otherThan(code, region) : "";
  },
);

/** Such as `iw`, for which the standard has `he`, and `ua`, which is a country. */
export const languageCode = codeOf("LANGUAGE_CODE", "must be an ISO 639 language code, such as en", (code) => {
  return isLanguage(code) ? otherThan(code, new Intl.Locale(code).language) : "";
});

function otherThan(code: string, standard: string): string | undefined {
  return code === standard ? undefined : standard;
}

/** `faultOf`: undefined for a code of the standard, else the code that is meant, or nothing. */
function codeOf(
  form: FieldFaultCode & keyof typeof forms,
  rule: string,
  faultOf: (code: string) => string | undefined,
) {
  return z
    .string()
    .regex(forms[form], { error: rule, abort: true })
    .superRefine((code, context) => {
      const meant = faultOf(code);
      if (meant === undefined) return;
      const hint = meant === "" ? `${code} is none` : `write ${meant}`;
      context.addIssue({ code: "custom", message: `${rule}: ${hint}`, params: fieldFault(form) });
    });
}
