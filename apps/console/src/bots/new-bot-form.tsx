import { botRoutes } from "@intermission/operator-api/bots";
import type { AnswerOf } from "@intermission/operator-api/route";
import { typedValuesOf } from "../forms/form-definition.ts";
import { FormSections } from "../forms/form-sections.tsx";
import { useSubmit, useTypedForm } from "../forms/typed-form.ts";
import { Button } from "../ui/button.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useLanguage } from "../words/word-table.ts";
import { newBotForm } from "./bot-form-definition.ts";
import { newBotFormWords } from "./new-bot-form-words.ts";

export type AddedBot = AnswerOf<typeof botRoutes.addBot>;

const initial = typedValuesOf(newBotForm, {});

interface NewBotFormProps {
  /** The text of the button: the words of bots are many. */
  add: string;
  onAdded: (bot: AddedBot) => void;
}

export function NewBotForm({ add, onAdded }: NewBotFormProps) {
  // The answer is a secret, which is kept by what shows it, and by nothing else.
  const request = useConfirmedChange(botRoutes.addBot, add, { gcTime: 0 });
  const form = useTypedForm(newBotForm, { initial, serverFaults: request.faults });
  const filled = form.shown.filter((name) => form.values[name] !== "" || name === "botId" || name === "name");
  const submit = useSubmit(form, {
    schema: botRoutes.addBot.body,
    names: filled,
    onBody: (body) => request.run({ body }, onAdded),
  });
  return (
    <form className="panel narrow" onSubmit={submit} noValidate>
      <FormSections form={form} words={newBotFormWords(useLanguage())} />
      <div className="row">
        <Button look="primary" type="submit" isBusy={request.isPending}>
          {add}
        </Button>
      </div>
      {request.dialog}
    </form>
  );
}
