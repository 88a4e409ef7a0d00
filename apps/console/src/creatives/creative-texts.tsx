import { type Creative, creativeRoutes } from "@intermission/operator-api/creatives";
import { FormSections } from "../forms/form-sections.tsx";
import { StoredForm } from "../forms/stored-form.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { uiWords } from "../ui/words.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { creativeNameForm, legalLineForm } from "./creative-form-definitions.ts";
import { creativeFormWords } from "./form-words.ts";
import { creativeWords } from "./words.ts";

/** The name, and the line that a law requires beside the ad: two requests, of which only the line waits for approval again. */
export function CreativeTexts({ creative, onSaved }: { creative: Creative; onSaved: (changed: Creative) => void }) {
  const words = useWords(creativeWords);
  const { save } = useWords(uiWords);
  const formWords = creativeFormWords(useLanguage());
  const rename = useConfirmedChange(creativeRoutes.renameCreative);
  const setLine = useConfirmedChange(creativeRoutes.setLegalLine);
  const params = { creativeId: creative.creativeId };
  return (
    <section className="panel stack" aria-labelledby="texts">
      <h2 id="texts">{words.texts}</h2>
      <StoredForm
        definition={creativeNameForm}
        stored={creative}
        schema={creativeRoutes.renameCreative.body}
        isPending={rename.isPending}
        serverFaults={rename.faults}
        onSave={(body, _, onDone) => rename.run({ params, body }, onDone)}
        saveLabel={`${save}: ${words.name}`}
        onSaved={onSaved}
      >
        {(form, conflicts) => <FormSections form={form} words={formWords} conflicts={conflicts} />}
      </StoredForm>
      <StoredForm
        definition={legalLineForm}
        stored={creative}
        schema={creativeRoutes.setLegalLine.body}
        isPending={setLine.isPending}
        serverFaults={setLine.faults}
        onSave={(body, _, onDone) => setLine.run({ params, body }, onDone)}
        saveLabel={`${save}: ${words.legalLine}`}
        onSaved={onSaved}
      >
        {(form, conflicts) => <FormSections form={form} words={formWords} conflicts={conflicts} />}
      </StoredForm>
    </section>
  );
}
