import { type Creative, creativeRoutes } from "@intermission/operator-api/creatives";
import { type FormEvent, useState } from "react";
import type { LocalText } from "../operator/local-text.ts";
import { useMay } from "../session/use-session.ts";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { uiWords } from "../ui/words.ts";
import { useWords } from "../words/word-table.ts";
import { useChangedNotice } from "./use-creatives.ts";
import { creativeWords } from "./words.ts";

/** The name, and the line that a law requires beside the ad. */
export function CreativeTexts({ creative }: { creative: Creative }) {
  const words = useWords(creativeWords);
  const may = useMay();
  const rename = useConfirmedChange(creativeRoutes.renameCreative);
  const setLine = useConfirmedChange(creativeRoutes.setLegalLine);
  const tell = useChangedNotice();
  const params = { creativeId: creative.creativeId };
  if (!may("renameCreative")) return null;
  return (
    <section className="panel stack" aria-labelledby="texts">
      <h2 id="texts">{words.texts}</h2>
      {/* A value that was saved, also by another person, makes another field; what is typed into the other one stays. */}
      <OneText
        key={`name ${creative.name}`}
        label={words.name}
        hint={words.nameHint}
        value={creative.name ?? ""}
        isBusy={rename.isPending}
        fault={rename.faults.name}
        onSave={(name) => rename.run({ params, body: { name } }, tell)}
      />
      <OneText
        key={`line ${creative.legalLine}`}
        label={words.legalLine}
        hint={words.legalLineHint}
        value={creative.legalLine ?? ""}
        isBusy={setLine.isPending}
        fault={setLine.faults.legalLine}
        onSave={(line) => setLine.run({ params, body: { legalLine: line.trim() === "" ? null : line } }, tell)}
      />
    </section>
  );
}

interface OneTextProps {
  label: string;
  hint: string;
  value: string;
  isBusy: boolean;
  fault: LocalText | undefined;
  onSave: (text: string) => unknown;
}

function OneText({ label, hint, value, isBusy, fault, onSave }: OneTextProps) {
  const { save } = useWords(uiWords);
  const [text, setText] = useState(value);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isBusy) onSave(text);
  };
  return (
    <form onSubmit={submit} className="one-field" noValidate>
      <Field label={label} hint={hint} fault={fault}>
        {(control) => <input {...control} value={text} onChange={(event) => setText(event.target.value)} />}
      </Field>
      <Button type="submit" isBusy={isBusy} aria-label={`${save}: ${label}`}>
        {save}
      </Button>
    </form>
  );
}
