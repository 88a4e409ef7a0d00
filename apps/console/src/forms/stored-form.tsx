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
  /** Whether the request replaces all settings, so that it names those too that were not typed into. */
  isWhole?: boolean;
  isPending: boolean;
  serverFaults: FormFaults;
  /** Sends what was typed, if the object has not been changed since it was `seen`. */
  onSave: (changes: z.input<Schema>, seen: Stored, onDone: (changed: Stored) => void) => unknown;
  /** The sections, which get both. */
  children: (form: TypedForm<Name, Title>, conflicts: FormConflicts | undefined) => ReactNode;
  /** Of a form in a window, which is closed once it is saved. */
  onClose?: () => void;
  /** Says what the change has done, in place of the usual notice. */
  onSaved?: (changed: Stored) => void;
  /** For screen readers, where a panel has several forms. */
  saveLabel?: string;
}

/**
 * The form of an object's settings. Only what was typed is sent. Another person's change appears in the fields at once; where
 * the reader has typed into the same field, the reader chooses. What is typed while it is saved stays.
 */
export function StoredForm<Stored extends object, Schema extends z.ZodType, Name extends string, Title extends string>(
  props: StoredFormProps<Stored, Schema, Name, Title>,
) {
  const { definition, stored, schema, isShown, isWhole = false, isPending, serverFaults, onClose, onSaved } = props;
  const { save, saved, cancel } = useWords(uiWords);
  const notice = useNotice();
  const form = useStoredForm(definition, { stored, serverFaults, ...(isShown && { isShown }) });
  const { seen, typed, conflicts, show, keepTyped, takeTheirs, methods } = form;
  const sendTyped = useSubmit(form, {
    schema,
    names: isWhole ? form.shown : typed,
    onBody: (changes, sent) =>
      props.onSave(changes, seen, (changed) => {
        show(changed, changedFields(sent, methods.getValues()));
        if (onSaved === undefined) notice({ text: saved });
        else onSaved(changed);
        onClose?.();
      }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isPending) return;
    if (typed.length > 0) {
      void sendTyped(event);
      return;
    }
    notice({ text: saved });
    onClose?.();
  };
  return (
    <form className="stack" onSubmit={submit} noValidate>
      {props.children(
        form,
        isPending ? undefined : { names: conflicts, stored, onTake: takeTheirs, onKeep: keepTyped },
      )}
      <div className={onClose === undefined ? "row" : "dialog-foot"}>
        {onClose && <Button onClick={onClose}>{cancel}</Button>}
        <Button look="primary" type="submit" isBusy={isPending} aria-label={props.saveLabel}>
          {save}
        </Button>
      </div>
    </form>
  );
}
