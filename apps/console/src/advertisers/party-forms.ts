import { advertiserParty, operatorParty, payee } from "@intermission/operator-api/parties";
import { defineForm } from "../forms/form-definition.ts";

/** What statements and payouts say of the operator. */
export const operatorForm = defineForm(operatorParty, {
  sections: [
    {
      fields: [
        "legalName",
        "address",
        "taxId",
        "iban",
        "leastPayoutMicros",
        "taxName",
        "taxPercent",
        "domain",
        "contactEmail",
        "tagId",
        "topUpText",
        "topUpUrl",
      ],
    },
    { title: "russia", isFolded: true, fields: ["personKind", "inn", "filedName"] },
  ],
});

/** What an advertiser's statements say of it. */
export const advertiserPartyForm = defineForm(advertiserParty, {
  sections: [
    { fields: ["legalName", "address", "taxId", "language", "taxNote"] },
    {
      title: "russia",
      isFolded: true,
      fields: [
        "personKind",
        "inn",
        "filedName",
        "contractNumber",
        "contractDate",
        "contractAmount",
        "contractType",
        "contractSubject",
        "contractAction",
      ],
    },
  ],
});

/** To whom the payouts of a bot go. */
export const payeeForm = defineForm(payee, {
  sections: [
    { fields: ["legalName", "iban", "address", "taxId", "language", "leastPayoutMicros", "domain"] },
    { title: "russia", isFolded: true, fields: ["personKind", "inn", "filedName"] },
  ],
});
