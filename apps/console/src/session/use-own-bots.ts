import { botRoutes } from "@intermission/operator-api/bots";
import { useQueries } from "@tanstack/react-query";
import { answerOf } from "../operator/use-operator.ts";
import { usePerson } from "./use-session.ts";

/** A publisher's own bots; for others none. */
export function useOwnBots() {
  const { botIds } = usePerson();
  return useQueries({
    queries: botIds.map((botId) => answerOf(botRoutes.showBot, { params: { botId } })),
    combine: (answers) => ({
      data: answers.every(({ data }) => data) ? answers.flatMap(({ data }) => data ?? []) : undefined,
      error: answers.find(({ error }) => error !== null)?.error ?? null,
      refetch: () => Promise.all(answers.map(({ refetch }) => refetch())),
    }),
  });
}
