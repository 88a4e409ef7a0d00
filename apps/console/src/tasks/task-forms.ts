import { taskRoutes } from "@intermission/operator-api/tasks";
import { defineForm, type TypedValues, typedValuesOf } from "../forms/form-definition.ts";

export const taskBotForm = defineForm(taskRoutes.addTaskBot.body, { sections: [{ fields: ["token"] }] });
export const newTaskBot: TypedValues = typedValuesOf(taskBotForm, { token: "" });

export const channelForm = defineForm(taskRoutes.addTaskChannel.body, {
  sections: [{ fields: ["chat", "approvesRequests"] }],
});
export const newChannel: TypedValues = typedValuesOf(channelForm, { chat: "", approvesRequests: false });
