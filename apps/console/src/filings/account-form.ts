import { ordRoutes } from "@intermission/operator-api/ord";
import { defineForm, type NameOf } from "../forms/form-definition.ts";

/** At which operator of ad data ads are filed. */
export const accountForm = defineForm(ordRoutes.setOrd.body, { sections: [{ fields: ["url", "key"] }] });
export type AccountField = NameOf<typeof accountForm>;
