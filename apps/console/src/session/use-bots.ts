import { botRoutes } from "@intermission/operator-api/bots";
import { useQueries, useQuery } from "@tanstack/react-query";
import { answerOf, wholeListOf } from "../operator/use-operator.ts";
import { mayUse, usePerson } from "./use-session.ts";

/** The bots that the person sees: all of them, or a publisher's own. */
export function useBots() {
  const { role, botIds } = usePerson();
  const isAll = mayUse(role, "listBots");
  const all = useQuery({ ...wholeListOf(botRoutes.listBots), enabled: isAll, select: ({ bots }) => bots });
  const own = useQueries({
    queries: isAll ? [] : botIds.map((botId) => answerOf(botRoutes.showBot, { params: { botId } })),
    combine: (answers) => ({
      data: answers.every(({ data }) => data) ? answers.flatMap(({ data }) => data ?? []) : undefined,
      error: answers.find(({ error }) => error !== null)?.error ?? null,
      refetch: () => Promise.all(answers.map(({ refetch }) => refetch())),
    }),
  });
  return isAll ? all : own;
}
