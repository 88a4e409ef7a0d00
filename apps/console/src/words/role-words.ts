import type { Role } from "@intermission/operator-api/people";
import type { Language } from "./word-table.ts";

export const roleWords = {
  en: {
    owner: "owner",
    "ad-ops": "ad operations",
    analyst: "analyst",
    advertiser: "advertiser",
    publisher: "publisher",
  },
  ru: {
    owner: "владелец",
    "ad-ops": "управление рекламой",
    analyst: "аналитик",
    advertiser: "рекламодатель",
    publisher: "издатель",
  },
} satisfies Record<Language, Record<Role, string>>;
