import { advertiserParty } from "@intermission/operator-api/parties";
import { defineForm } from "../forms/form-definition.ts";

/** What an advertiser's statements say of it. */
export const advertiserPartyForm = defineForm(advertiserParty, {
  sections: [{ fields: ["legalName", "address", "taxId", "language", "taxNote"] }],
});
