import { peopleRoutes } from "@intermission/operator-api/people";
import { defineForm, type NameOf, type TypedValues, typedValuesOf } from "../forms/form-definition.ts";

export const invitationForm = defineForm(peopleRoutes.invitePerson.body, {
  sections: [{ fields: ["email", "role", "advertiser", "botIds"] }],
});

/** A person's role, and whose objects the person sees. */
export const roleForm = defineForm(peopleRoutes.changeRole.body, {
  sections: [{ fields: ["role", "advertiser", "botIds"] }],
});

export const emailForm = defineForm(peopleRoutes.changeEmail.body, { sections: [{ fields: ["email"] }] });

export type PersonField = NameOf<typeof invitationForm>;

export const newPersonValues: TypedValues = typedValuesOf(invitationForm, { role: "ad-ops" });

/** An advertiser's people see one advertiser, a publisher's some bots. */
export function isPersonField(name: string, { role }: TypedValues): boolean {
  switch (name) {
    case "advertiser":
      return role === "advertiser";
    case "botIds":
      return role === "publisher";
    default:
      return true;
  }
}
