import { endpointRoutes } from "@intermission/operator-api/endpoints";
import { noticeRoutes } from "@intermission/operator-api/notices";
import { defineForm } from "../forms/form-definition.ts";
import type { FormWords } from "../forms/form-words.ts";
import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";

/** How much is sent to an endpoint at once. */
export const endpointForm = defineForm(endpointRoutes.limitEndpoint.body, { sections: [{ fields: ["maxInFlight"] }] });

/** Who is told when an endpoint fails. */
export const noticesForm = defineForm(noticeRoutes.setNotices.body, {
  sections: [{ fields: ["email", "telegramChatId", "webhookUrl"] }],
});

export const webhookSettingsWords = loadWords("webhookSettings");

export const endpointFormWords = loadWords("endpointForm") satisfies Record<Language, FormWords<"maxInFlight">>;

export const noticesFormWords = loadWords("noticesForm") satisfies Record<
  Language,
  FormWords<"email" | "telegramChatId" | "webhookUrl">
>;
