import { sessionRoutes } from "@intermission/operator-api/session";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { callOperator } from "../operator/call-operator.ts";
import { type CurrentSession, changeSession } from "../session/use-session.ts";
import { useFailedNotice } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { useFormats } from "../words/formats.ts";
import { roleWords } from "../words/role-words.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { shellWords } from "./words.ts";

/** Above every screen while somebody sees the console as another person. */
export function ImpersonationBanner({ person, seenBy }: Pick<CurrentSession, "person" | "seenBy">) {
  const words = useWords(shellWords);
  const roles = roleWords[useLanguage()];
  const formats = useFormats();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const onFailed = useFailedNotice();
  const end = useMutation({
    mutationFn: () => callOperator(sessionRoutes.endImpersonation, undefined),
    onSuccess: async (session) => {
      changeSession(queries, session);
      await navigate({ to: "/people" });
    },
    onError: onFailed,
  });
  const until = seenBy?.until.getTime();
  // When the time is over, the server answers as for the own person again: so must what is shown.
  useEffect(() => {
    if (until === undefined) return;
    const timer = setTimeout(
      async () => {
        changeSession(queries, await callOperator(sessionRoutes.showSession, undefined));
      },
      Math.max(0, until - Date.now()) + 1000,
    );
    return () => clearTimeout(timer);
  }, [until, queries]);
  if (seenBy === null) return null;
  return (
    <section className="impersonation" aria-label={words.impersonation}>
      <p>
        {words.seenAs({ email: person.email, role: roles[person.role] })}{" "}
        {words.readOnlyUntil(formats.clock(seenBy.until))}
      </p>
      <Button look="plain" isBusy={end.isPending} onClick={() => end.mutate()}>
        {words.endImpersonation}
      </Button>
    </section>
  );
}
