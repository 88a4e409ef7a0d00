import { peopleRoutes } from "@intermission/operator-api/people";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { callOperator } from "../operator/call-operator.ts";
import { Skeleton } from "../ui/answer-view.tsx";
import { useWords } from "../words/word-table.ts";
import { EntryCard } from "./entry-card.tsx";
import { startSession } from "./use-session.ts";
import { sessionWords } from "./words.ts";

/** `/console/sign-in-link#…`: the command line made it. */
export function SignInLinkScreen() {
  const words = useWords(sessionWords);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [token] = useState(() => location.hash.slice(1));
  // A query, since it runs once even where React mounts the screen twice.
  const opened = useQuery({
    queryKey: ["sign-in-link"],
    queryFn: () => callOperator(peopleRoutes.openSignInLink, { body: { token } }),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  useEffect(() => {
    if (opened.data === undefined) return;
    startSession(queries, opened.data);
    void navigate({ to: "/", replace: true });
  }, [opened.data, queries, navigate]);
  return (
    <EntryCard title={words.signIn}>
      {opened.error === null ? (
        <Skeleton rows={2} />
      ) : (
        <>
          <p role="alert">{words.noSignInLink}</p>
          <Link to="/" className="link">
            {words.toSignIn}
          </Link>
        </>
      )}
    </EntryCard>
  );
}
