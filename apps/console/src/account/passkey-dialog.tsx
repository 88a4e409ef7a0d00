import { type Passkey, signInMethodRoutes } from "@intermission/operator-api/sign-in-methods";
import { useQueryClient } from "@tanstack/react-query";
import { useForm } from "react-hook-form";
import { callOperator } from "../operator/call-operator.ts";
import { makePasskey } from "../session/passkeys.ts";
import { useRefusalText } from "../session/refusal-text.ts";
import { Field } from "../ui/field.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useBodyResolver } from "../ui/typed-faults.ts";
import { useWords } from "../words/word-table.ts";
import { accountWords } from "./words.ts";

/** Names a new passkey, which the browser then makes, or one that is there. */
export function PasskeyDialog({ passkey, onClose }: { passkey?: Passkey; onClose: () => void }) {
  const words = useWords(accountWords);
  const queries = useQueryClient();
  const notice = useNotice();
  const refusal = useRefusalText();
  const { register, handleSubmit, formState, setError } = useForm({
    resolver: useBodyResolver(signInMethodRoutes.renamePasskey.body),
    defaultValues: { name: passkey?.name ?? "" },
  });
  const { errors, isSubmitting } = formState;
  const submit = handleSubmit(async ({ name }) => {
    try {
      const isDone = passkey === undefined ? await add(name) : await rename(passkey, name);
      // Closed in the browser's own window: the name stays, to try again.
      if (!isDone) return;
      await queries.invalidateQueries();
      notice({ text: passkey === undefined ? words.passkeyAdded(name) : words.renamed });
      onClose();
    } catch (error) {
      setError("name", { message: refusal(error) });
    }
  });
  const isNew = passkey === undefined;
  return (
    <FormDialog
      title={isNew ? words.addPasskey : words.renameOf(passkey.name)}
      submitText={isNew ? words.continueToBrowser : words.rename}
      isBusy={isSubmitting}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label={words.passkeyName} hint={words.passkeyNameHint} fault={errors.name?.message}>
        {(control) => <input type="text" maxLength={64} autoComplete="off" {...control} {...register("name")} />}
      </Field>
    </FormDialog>
  );
}

async function add(name: string): Promise<boolean> {
  const credential = await makePasskey(await callOperator(signInMethodRoutes.startAddingPasskey, undefined));
  if (credential === undefined) return false;
  await callOperator(signInMethodRoutes.addPasskey, { body: { name, credential } });
  return true;
}

async function rename({ passkeyId }: Passkey, name: string): Promise<boolean> {
  await callOperator(signInMethodRoutes.renamePasskey, { params: { passkeyId }, body: { name } });
  return true;
}
