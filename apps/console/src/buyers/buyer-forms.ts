import { buyerRoutes, buyerSettings, usualBuyer } from "@intermission/operator-api/buyers";
import { defineForm, type NameOf, otherFields, type TypedValues, typedValuesOf } from "../forms/form-definition.ts";
import type { FormWords } from "../forms/form-words.ts";
import type { Language } from "../words/languages.ts";
import { buyerFormWords } from "./words.ts";

const ofNew = ["name", "protocol", "url", "key", "floorMicros"] as const;
const onItsScreen = "the form on the buyer's screen";

/** What a new buyer needs; all else is set on its screen. */
export const newBuyerForm = defineForm(buyerRoutes.addBuyer.body, {
  sections: [{ fields: ofNew }],
  elsewhere: Object.fromEntries(otherFields(buyerRoutes.addBuyer.body, ofNew).map((name) => [name, onItsScreen])),
});
export const newBuyerValues: TypedValues = typedValuesOf(newBuyerForm, usualBuyer);

export const buyerForm = defineForm(buyerSettings, {
  sections: [
    {
      fields: [
        "protocol",
        "url",
        "key",
        "tmaxMs",
        "floorMicros",
        "sends",
        "tcfVendorId",
        "blockedCategories",
        "categoryTaxonomy",
        "needsCategory",
        "allowedRegulated",
        "firstSeenLimit",
        "reportLimit",
        "blockedDomains",
        "storedRequest",
        "adsTxt",
        "alwaysTests",
      ],
    },
  ],
  elsewhere: { isActive: "a button of the screen" },
});

type BuyerField = NameOf<typeof newBuyerForm> | NameOf<typeof buyerForm>;

export function wordsOfBuyerForm(language: Language): FormWords<BuyerField> {
  const { labels, hints, sends, protocol, allowedRegulated } = buyerFormWords[language];
  return { labels, hints, options: { sends, protocol, allowedRegulated } };
}
