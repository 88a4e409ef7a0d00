import { momentInput } from "@intermission/ad-core/wire-fields";
import { z } from "zod";

/** What a value means to who fills in a form, where the type of its schema does not tell it. */
export type FormKind =
  | "price"
  | "budget"
  | "payment"
  | "moment"
  | "address"
  | "email"
  | "languages"
  | "countries"
  | "bots"
  | "videos"
  | "hours"
  | "weekdays"
  | "timeZone"
  | "username"
  | "word"
  | "rewardUnit";

/** Beside the schemas, so that the documents that are made of them stay as they are: `schema.register(formKinds, { kind })`. */
export const formKinds = z.registry<{ kind: FormKind }>().add(momentInput, { kind: "moment" });
