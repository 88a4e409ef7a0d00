import { peopleRoutes } from "@intermission/operator-api/people";
import type { Person } from "@intermission/operator-api/session";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { callOperator } from "../operator/call-operator.ts";
import { changeSession } from "../session/use-session.ts";
import { useFailedNotice } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { useWords } from "../words/word-table.ts";
import { peopleWords } from "./words.ts";

/** Shows the console as this person sees it, only to read; the shell shows a banner meanwhile. */
export function SeeAsButton({ person: { personId, email } }: { person: Person }) {
  const words = useWords(peopleWords);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const onFailed = useFailedNotice();
  const start = useMutation({
    mutationFn: () => callOperator(peopleRoutes.startImpersonation, { params: { personId } }),
    onSuccess: async (session) => {
      await navigate({ to: "/" });
      changeSession(queries, session);
    },
    onError: onFailed,
  });
  return (
    <Button look="quiet" isBusy={start.isPending} aria-label={words.seeAsOf(email)} onClick={() => start.mutate()}>
      {words.seeAs}
    </Button>
  );
}
