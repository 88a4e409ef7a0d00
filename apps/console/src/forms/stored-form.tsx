import type { FormEvent, ReactNode } from "react";
import type { z } from "zod";
import { Button } from "../ui/button.tsx";
import { useNotice } from "../ui/notices.tsx";
import { uiWords } from "../ui/words.ts";
import { useWords } from "../words/word-table.ts";
import type { FormConflicts } from "./conflicts.tsx";
import { changedFields, type FormDefinition, type FormFaults, type TypedValues } from "./form-definition.ts";
import { type TypedForm, useStoredForm, useSubmit } from "./typed-form.ts";

interface StoredFormProps<Stored, Schema extends z.ZodType, Name extends string, Title extends string> {
  definition: FormDefinition<Name, Title>;
  stored: Stored;
  /** Of the body of the request. */
  schema: Schema;
  isShown?: (name: string, values: TypedValues) => boolean;
  isPending: boolean;
  serverFaults: FormFaults;
  /** Sends what was typed, if the object has not been changed since it was `seen`. */
  onSave: (changes: z.input<Schema>, seen: Stored, onDone: (changed: Stored) => void) => unknown;
  /** The sections, which get both. */
  children: (form: TypedForm<Name, Title>, conflicts: FormConflicts | undefined) => ReactNode;
}

/**
 * The form of an object's settings. Only what was typed is sent. Another person's change appears in the fields at once; where
 * the reader has typed into the same field, the reader chooses. What is typed while it is saved stays.
 */
export function StoredForm<
  Stored extends { updatedAt: Date },
  Schema extends z.ZodType,
  Name extends string,
  Title extends string,
>(props: StoredFormProps<Stored, Schema, Name, Title>) {
  const { definition, stored, schema, isShown, isPending, serverFaults, onSave, children } = props;
  const { save, saved } = useWords(uiWords);
  const notice = useNotice();
  const form = useStoredForm(definition, { stored, serverFaults, ...(isShown && { isShown }) });
  const { seen, typed, conflicts, show, keepTyped, takeTheirs, methods } = form;
  const sendTyped = useSubmit(form, {
    schema,
    names: typed,
    onBody: (changes, sent) =>
      onSave(changes, seen, (changed) => {
        show(changed, changedFields(sent, methods.getValues()));
        notice({ text: saved });
      }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isPending) return;
    if (typed.length === 0) notice({ text: saved });
    else void sendTyped(event);
  };
  return (
    <form className="stack" onSubmit={submit} noValidate>
      {children(form, isPending ? undefined : { names: conflicts, stored, onTake: takeTheirs, onKeep: keepTyped })}
      <div className="row">
        <Button look="primary" type="submit" isBusy={isPending}>
          {save}
        </Button>
      </div>
    </form>
  );
}
