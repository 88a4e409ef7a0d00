import { type Bot, botRoutes } from "@intermission/operator-api/bots";
import { FormSections } from "../forms/form-sections.tsx";
import { StoredForm } from "../forms/stored-form.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { uiWords } from "../ui/words.ts";
import { useWords } from "../words/word-table.ts";
import { botForm } from "./bot-form-definition.ts";
import { botFormWords } from "./form-words.ts";
import { botWords } from "./words.ts";

/** The form of a bot's settings, or of some of them. */
export function SettingsForm({ bot, isShown }: { bot: Bot; isShown: (name: string) => boolean }) {
  const { settings } = useWords(botWords);
  const { save } = useWords(uiWords);
  const words = useWords(botFormWords);
  const update = useConfirmedChange(botRoutes.updateBot, save);
  return (
    <section className="panel narrow" aria-labelledby="settings">
      <h2 id="settings">{settings}</h2>
      <StoredForm
        definition={botForm}
        stored={bot}
        schema={botRoutes.updateBot.body}
        isShown={isShown}
        isPending={update.isPending}
        serverFaults={update.faults}
        onSave={(body, { updatedAt }, onDone) =>
          update.run({ params: { botId: bot.botId }, query: { expectedUpdatedAt: updatedAt }, body }, onDone)
        }
      >
        {(form, conflicts) => <FormSections form={form} words={words} conflicts={conflicts} />}
      </StoredForm>
      {update.dialog}
    </section>
  );
}
