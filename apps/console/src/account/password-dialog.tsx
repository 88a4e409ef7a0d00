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

/** Changes the own password, by the present one and a code of the authenticator app. */
export function PasswordDialog({ onClose }: { onClose: () => void }) {
  const words = useWords(accountWords);
  const language = useLanguage();
  const queries = useQueryClient();
  const notice = useNotice();
  const refusal = useRefusalText();
  const { email } = usePerson();
  const { register, handleSubmit, formState, setError, resetField } = useForm({
    resolver: useBodyResolver(accountRoutes.changePassword.body),
    defaultValues: { currentPassword: "", password: "", code: "" },
  });
  const { errors, isSubmitting } = formState;
  const submit = handleSubmit(async (body) => {
    try {
      const { ended } = await callOperator(accountRoutes.changePassword, { body });
      await queries.invalidateQueries();
      notice({ text: words.passwordChanged(ended) });
      onClose();
    } catch (error) {
      // Used up, or wrong.
      resetField("code");
      const fault = error instanceof CallError ? error.fields.currentPassword : undefined;
      setError("currentPassword", { message: fault?.in(language) ?? refusal(error as Error) });
    }
  });
  return (
    <FormDialog
      title={words.changePassword}
      submitText={words.changePassword}
      isBusy={isSubmitting}
      onSubmit={submit}
      onClose={onClose}
    >
      <input type="hidden" autoComplete="username" value={email} />
      <Field label={words.currentPassword} fault={errors.currentPassword?.message}>
        {(control) => (
          <input type="password" autoComplete="current-password" {...control} {...register("currentPassword")} />
        )}
      </Field>
      <Field label={words.newPassword} hint={words.passwordHint} fault={errors.password?.message}>
        {(control) => <input type="password" autoComplete="new-password" {...control} {...register("password")} />}
      </Field>
      <Field label={words.code} hint={words.codeHint} fault={errors.code?.message}>
        {(control) => <input inputMode="numeric" autoComplete="one-time-code" {...control} {...register("code")} />}
      </Field>
    </FormDialog>
  );
}
