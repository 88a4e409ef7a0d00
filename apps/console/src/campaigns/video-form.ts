import { creativeSettings } from "@intermission/operator-api/campaigns";
import { defineForm, type NameOf } from "../forms/form-definition.ts";

/** How a creative is shown in one campaign. */
export const videoForm = defineForm(creativeSettings, {
  sections: [{ fields: ["weight", "label", "callToAction"] }],
});
export type VideoField = NameOf<typeof videoForm>;
