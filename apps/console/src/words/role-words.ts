import type { Role } from "@intermission/operator-api/access";
import { loadWords } from "./catalog.ts";
import type { Language } from "./languages.ts";

export const roleWords = loadWords("roles") satisfies Record<Language, Record<Role, string>>;
