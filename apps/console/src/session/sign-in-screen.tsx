import { peopleRoutes } from "@intermission/operator-api/people";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useForm } from "react-hook-form";
import { callOperator } from "../operator/call-operator.ts";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { useBodyResolver } from "../ui/typed-faults.ts";
import { useWords } from "../words/word-table.ts";
import { EntryCard } from "./entry-card.tsx";
import { OtherWays } from "./other-ways.tsx";
import { useRefusalText } from "./refusal-text.ts";
import { hasSessionEnded, startSession } from "./use-session.ts";
import { sessionWords } from "./words.ts";

/** Replaces every screen without a session, so that the address stays and needs no redirect. */
export function SignInScreen() {
  const words = useWords(sessionWords);
  const queries = useQueryClient();
  const refusal = useRefusalText();
  const { register, handleSubmit, formState, setError, resetField } = useForm({
    resolver: useBodyResolver(peopleRoutes.signIn.body),
    defaultValues: { email: "", password: "", code: "" },
  });
  const { errors, isSubmitting } = formState;
  // Not once the next session has begun, while this screen is still shown.
  const [isSurprise] = useState(hasSessionEnded);
  const submit = handleSubmit(async (body) => {
    try {
      const session = await callOperator(peopleRoutes.signIn, { body });
      startSession(queries, session);
    } catch (error) {
      resetField("code");
      setError("root", { message: refusal(error) });
    }
  });
  return (
    <EntryCard title={words.signIn}>
      {isSurprise && <p role="status">{words.sessionEnded}</p>}
      <OtherWays />
      <form onSubmit={submit} noValidate>
        <Field label={words.email} fault={errors.email?.message}>
          {(control) => <input type="email" autoComplete="username" {...control} {...register("email")} />}
        </Field>
        <Field label={words.password} fault={errors.password?.message}>
          {(control) => (
            <input type="password" autoComplete="current-password" {...control} {...register("password")} />
          )}
        </Field>
        <Field label={words.code} hint={words.signInCodeHint} fault={errors.code?.message}>
          {(control) => (
            <input
              autoComplete="one-time-code"
              autoCapitalize="off"
              spellCheck={false}
              {...control}
              {...register("code")}
            />
          )}
        </Field>
        <p className="fault" role="alert">
          {errors.root?.message}
        </p>
        <Button look="primary" type="submit" isBusy={isSubmitting}>
          {words.signIn}
        </Button>
      </form>
    </EntryCard>
  );
}
