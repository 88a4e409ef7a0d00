import { accountRoutes } from "@intermission/operator-api/account";
import { useQueryClient } from "@tanstack/react-query";
import { useForm } from "react-hook-form";
import { CallError, callOperator } from "../operator/call-operator.ts";
import { useRefusalText } from "../session/refusal-text.ts";
import { usePerson } from "../session/use-session.ts";
import { Field } from "../ui/field.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useBodyResolver } from "../ui/typed-faults.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { accountWords } from "./words.ts";

/** Asks for another address, by the password and a code; a person without a password has signed in lately. */
export function EmailDialog({ hasPassword, onClose }: { hasPassword: boolean; onClose: () => void }) {
  const words = useWords(accountWords);
  const language = useLanguage();
  const queries = useQueryClient();
  const notice = useNotice();
  const refusal = useRefusalText();
  const { email } = usePerson();
  const proof = hasPassword ? { currentPassword: "", code: "" } : {};
  const { register, handleSubmit, formState, setError, resetField } = useForm({
    resolver: useBodyResolver(accountRoutes.requestEmailChange.body),
    defaultValues: { email: "", ...proof },
  });
  const { errors, isSubmitting } = formState;
  const submit = handleSubmit(async (body) => {
    try {
      const requested = await callOperator(accountRoutes.requestEmailChange, { body });
      await queries.invalidateQueries();
      notice({ text: words.emailRequested(requested.email) });
      onClose();
    } catch (error) {
      // Used up, or wrong.
      if (hasPassword) resetField("code");
      const fields = error instanceof CallError ? error.fields : {};
      if (fields.currentPassword) setError("currentPassword", { message: fields.currentPassword.in(language) });
      else setError("email", { message: fields.email?.in(language) ?? refusal(error) });
    }
  });
  return (
    <FormDialog
      title={words.changeEmail}
      submitText={words.changeEmail}
      isBusy={isSubmitting}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label={words.newEmail} hint={words.newEmailHint} fault={errors.email?.message}>
        {(control) => <input type="email" autoComplete="email" {...control} {...register("email")} />}
      </Field>
      {hasPassword && (
        <>
          <input type="hidden" autoComplete="username" value={email} />
          <Field label={words.currentPassword} fault={errors.currentPassword?.message}>
            {(control) => (
              <input type="password" autoComplete="current-password" {...control} {...register("currentPassword")} />
            )}
          </Field>
          <Field label={words.code} hint={words.codeHint} fault={errors.code?.message}>
            {(control) => <input inputMode="numeric" autoComplete="one-time-code" {...control} {...register("code")} />}
          </Field>
        </>
      )}
    </FormDialog>
  );
}
