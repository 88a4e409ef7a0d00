import { creativeRoutes } from "@intermission/operator-api/creatives";
import { defineForm, type TypedValues, typedValuesOf } from "../forms/form-definition.ts";

export const creativeNameForm = defineForm(creativeRoutes.renameCreative.body, { sections: [{ fields: ["name"] }] });

/** What a law requires beside the ad. */
export const legalLineForm = defineForm(creativeRoutes.setLegalLine.body, {
  sections: [{ fields: ["legalLine", "erid", "kktu", "adDescription"] }],
});

export const refusalForm = defineForm(creativeRoutes.refuseCreative.body, {
  sections: [{ fields: ["reason"] }],
  elsewhere: { revision: "of what the reader sees" },
});

export const videoAddressForm = defineForm(creativeRoutes.addVideoByAddress.body, { sections: [{ fields: ["url"] }] });

export const emptyRefusal: TypedValues = typedValuesOf(refusalForm, {});
export const emptyAddress: TypedValues = typedValuesOf(videoAddressForm, {});
