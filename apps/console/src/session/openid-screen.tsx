import { signInMethodRoutes } from "@intermission/operator-api/sign-in-methods";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { callOperator } from "../operator/call-operator.ts";
import { Skeleton } from "../ui/answer-view.tsx";
import { useWords } from "../words/word-table.ts";
import { EntryCard } from "./entry-card.tsx";
import { forgetOpenIdReturn, openIdReturn } from "./openid-return.ts";
import { useRefusalText } from "./refusal-text.ts";
import { startSession } from "./use-session.ts";
import { sessionWords } from "./words.ts";

/** `/console/openid?…`: a provider has sent the browser back, with its answer in the query. */
export function OpenIdScreen() {
  const words = useWords(sessionWords);
  const queries = useQueryClient();
  const { history } = useRouter();
  const refusal = useRefusalText();
  const [query] = useState(() => location.search.slice(1));
  const [{ purpose, path }] = useState(openIdReturn);
  // A query, since it runs once even where React mounts the screen twice.
  const answered = useQuery({
    queryKey: ["openid", query],
    async queryFn() {
      forgetOpenIdReturn();
      const body = { query };
      if (purpose === "sign-in") return callOperator(signInMethodRoutes.finishOpenIdSignIn, { body });
      await callOperator(signInMethodRoutes.linkIdentity, { body });
      return null;
    },
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  // The answer serves once: nothing of it stays in the address.
  useEffect(() => history.replace(location.pathname), [history]);
  useEffect(() => {
    if (answered.data === undefined) return;
    if (answered.data !== null) startSession(queries, answered.data);
    history.replace(path);
  }, [answered.data, queries, history, path]);
  return (
    <EntryCard title={purpose === "sign-in" ? words.signIn : words.linkAccount}>
      {answered.error === null ? (
        <Skeleton rows={2} />
      ) : (
        <>
          <p role="alert">{refusal(answered.error)}</p>
          <a href={path} className="link">
            {purpose === "sign-in" ? words.toSignIn : words.back}
          </a>
        </>
      )}
    </EntryCard>
  );
}
