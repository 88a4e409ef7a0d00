import { endpointRoutes } from "@intermission/operator-api/endpoints";
import { noticeRoutes } from "@intermission/operator-api/notices";
import { defineForm } from "../forms/form-definition.ts";

/** How much is sent to an endpoint at once. */
export const endpointForm = defineForm(endpointRoutes.limitEndpoint.body, { sections: [{ fields: ["maxInFlight"] }] });

/** Who is told when an endpoint fails. */
export const noticesForm = defineForm(noticeRoutes.setNotices.body, {
  sections: [{ fields: ["email", "telegramChatId", "webhookUrl"] }],
});
