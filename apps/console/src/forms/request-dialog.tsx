import type { ComponentType, ReactNode } from "react";
import type { z } from "zod";
import { FormDialog } from "../ui/form-dialog.tsx";
import type { ControlProps } from "./checks-box.tsx";
import type { FormDefinition, FormFaults, TypedValues } from "./form-definition.ts";
import { FormSections } from "./form-sections.tsx";
import type { FormWords } from "./form-words.ts";
import { useSubmit, useTypedForm } from "./typed-form.ts";

interface RequestDialogProps<Schema extends z.ZodType, Name extends string, Title extends string> {
  title: string;
  submitText: string;
  definition: FormDefinition<Name, Title>;
  /** What the fields hold at first. */
  initial: TypedValues;
  /** Of the body of the request. */
  schema: Schema;
  /** What the request says beside the fields. */
  fixed?: object;
  isShown?: (name: string, values: TypedValues) => boolean;
  wordsOf: (values: TypedValues) => FormWords<Name, Title>;
  /** Of fields that have a control of their own. */
  controls?: Readonly<Partial<Record<Name, ComponentType<ControlProps>>>>;
  /** Of `useConfirmedChange`. */
  request: { isPending: boolean; faults: FormFaults; dialog: ReactNode };
  onBody: (body: z.input<Schema>) => unknown;
  onClose: () => void;
  /** Above the fields. */
  children?: ReactNode;
}

/** A modal window with the form of one request. */
export function RequestDialog<Schema extends z.ZodType, Name extends string, Title extends string>(
  props: RequestDialogProps<Schema, Name, Title>,
) {
  const { title, submitText, definition, initial, schema, fixed, isShown, request, children } = props;
  const form = useTypedForm(definition, { initial, serverFaults: request.faults, ...(isShown && { isShown }) });
  const submit = useSubmit(form, { schema, onBody: props.onBody, ...(fixed && { fixed }) });
  return (
    <FormDialog
      title={title}
      submitText={submitText}
      isBusy={request.isPending}
      onSubmit={() => void submit()}
      onClose={props.onClose}
    >
      {children}
      <FormSections
        form={form}
        words={props.wordsOf(form.values)}
        hasFocus
        {...(props.controls && { controls: props.controls })}
      />
      {request.dialog}
    </FormDialog>
  );
}
