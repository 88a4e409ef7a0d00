import { peopleRoutes } from "@intermission/operator-api/people";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { generate } from "lean-qr";
import { toSvgDataURL } from "lean-qr/extras/svg";
import { useState } from "react";
import { useForm } from "react-hook-form";
import { CallError, callOperator } from "../operator/call-operator.ts";
import { Failure, Skeleton } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { useBodyResolver } from "../ui/typed-faults.ts";
import { roleWords } from "../words/role-words.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { EntryCard } from "./entry-card.tsx";
import { OtherWays } from "./other-ways.tsx";
import { useRefusalText } from "./refusal-text.ts";
import { startSession } from "./use-session.ts";
import { sessionWords } from "./words.ts";

/** `/console/invitation#…`: the token stands in the fragment, which browsers send to no server. */
export function InvitationScreen() {
  const words = useWords(sessionWords);
  const [token] = useState(() => location.hash.slice(1));
  const invitation = useQuery({
    queryKey: ["invitation"],
    queryFn: () => callOperator(peopleRoutes.openInvitation, { body: { token } }),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (invitation.data !== undefined) return <Accept token={token} invitation={invitation.data} />;
  if (invitation.error === null) {
    return (
      <EntryCard title={words.invited}>
        <Skeleton rows={4} />
      </EntryCard>
    );
  }
  const isUnknown = invitation.error instanceof CallError && [400, 404].includes(invitation.error.status);
  return (
    <EntryCard title={words.invited}>
      {isUnknown ? (
        <p>{words.noInvitation}</p>
      ) : (
        <Failure error={invitation.error} onRetry={() => invitation.refetch()} />
      )}
      <Link to="/" className="link">
        {words.toSignIn}
      </Link>
    </EntryCard>
  );
}

type Invitation = Awaited<ReturnType<typeof callOperator<typeof peopleRoutes.openInvitation>>>;

function Accept({ token, invitation }: { token: string; invitation: Invitation }) {
  const words = useWords(sessionWords);
  const language = useLanguage();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const refusal = useRefusalText();
  const { register, handleSubmit, formState, setError } = useForm({
    resolver: useBodyResolver(peopleRoutes.acceptInvitation.body),
    defaultValues: { token, password: "", code: "" },
  });
  const { errors, isSubmitting } = formState;
  const submit = handleSubmit(async (body) => {
    try {
      const session = await callOperator(peopleRoutes.acceptInvitation, { body });
      startSession(queries, session);
      await navigate({ to: "/", replace: true });
    } catch (error) {
      setError("root", { message: refusal(error) });
    }
  });
  const { email, role, totpSecret, totpUri } = invitation;
  return (
    <EntryCard title={words.invited}>
      <p className="secondary">{words.invitedAs({ email, role: roleWords[language][role] })}</p>
      <OtherWays invitation={token} />
      <form onSubmit={submit} noValidate>
        <p>{words.scan}</p>
        <p className="totp">
          <img src={qrCode(totpUri)} alt={words.qr} width="160" height="160" />
          <code>{totpSecret.replace(/(.{4})/g, "$1 ").trim()}</code>
        </p>
        <input type="hidden" autoComplete="username" value={email} />
        <Field label={words.newPassword} hint={words.passwordHint} fault={errors.password?.message}>
          {(control) => <input type="password" autoComplete="new-password" {...control} {...register("password")} />}
        </Field>
        <Field label={words.code} hint={words.codeHint} fault={errors.code?.message}>
          {(control) => <input inputMode="numeric" autoComplete="one-time-code" {...control} {...register("code")} />}
        </Field>
        <p className="fault" role="alert">
          {errors.root?.message}
        </p>
        <Button look="primary" type="submit" isBusy={isSubmitting}>
          {words.accept}
        </Button>
      </form>
    </EntryCard>
  );
}

/** Black on white with the quiet zone that cameras need, in a dark theme, too. */
function qrCode(text: string): string {
  return toSvgDataURL(generate(text), { on: "#000", off: "#fff", padX: 3, padY: 3 });
}
