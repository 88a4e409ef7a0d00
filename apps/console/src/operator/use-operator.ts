import type { AnswerOf, OperatorRoute } from "@intermission/operator-api/route";
import {
  MutationCache,
  QueryCache,
  QueryClient,
  queryOptions,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { CallError, callOperator, type InputArguments, type RouteInput } from "./call-operator.ts";

/** Numbers may lag by this; screens say as of when they are. */
const FRESH_MS = 15_000;
const MAX_TRIES = 2;

/** Whether to ask again: a refusal stays one. */
function isWorthRepeating(tries: number, error: Error): boolean {
  return tries < MAX_TRIES && error instanceof CallError && (error.status === 0 || error.status >= 500);
}

/** `onSignedOut` is called when an answer says that the session has ended. */
export function newQueryClient(onSignedOut: (client: QueryClient) => void): QueryClient {
  const onError = (error: Error) => {
    if (error instanceof CallError && error.code === "SIGNED_OUT") onSignedOut(client);
  };
  const client = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    // Without a connection a request fails at once: else a change would be made unasked once there is one again.
    defaultOptions: {
      queries: { staleTime: FRESH_MS, retry: isWorthRepeating, refetchOnWindowFocus: true, networkMode: "always" },
      mutations: { networkMode: "always" },
    },
  });
  return client;
}

/** The query of a GET route: `useQuery(answerOf(botRoutes.listBots))`, or with options of TanStack Query beside it. */
export function answerOf<Route extends OperatorRoute>(route: Route, ...[input]: InputArguments<Route>) {
  return queryOptions<AnswerOf<Route>, Error>({
    queryKey: [route.path, input ?? null],
    queryFn: ({ signal }) => callOperator(route, input, signal),
  });
}

/** The same of a list, with the rows of all its pages: screens filter, count and save all that there is. */
export function wholeListOf<Route extends OperatorRoute>(route: Route, ...[input]: InputArguments<Route>) {
  return queryOptions<AnswerOf<Route>, Error>({
    queryKey: [route.path, input ?? null, "whole"],
    async queryFn({ signal }) {
      const readAfter = async (after: string | undefined) => {
        // A list's query has a cursor; a generic type loses that, and what the answer has.
        const parts: { query?: object } = input ?? {};
        const page = { ...parts, query: { ...parts.query, after } } as unknown as RouteInput<Route>;
        return (await callOperator(route, page, signal)) as Page;
      };
      let whole = await readAfter(undefined);
      while (typeof whole.next === "string") whole = joined(whole, await readAfter(whole.next));
      return whole as AnswerOf<Route>;
    },
  });
}

type Page = Readonly<Record<string, unknown>>;

/** A page after the ones before it: its own values, and the rows of all. */
function joined(before: Page, page: Page): Page {
  const both = Object.entries(page).map(([name, value]) => {
    const rows = before[name];
    return [name, Array.isArray(value) && Array.isArray(rows) ? [...rows, ...value] : value];
  });
  return Object.fromEntries(both);
}

/** The whole list of a GET route. */
export function useWholeList<Route extends OperatorRoute>(route: Route, ...input: InputArguments<Route>) {
  return useQuery(wholeListOf(route, ...input));
}

/** The answer of a GET route: data, whether it loads, the error, and `dataUpdatedAt`. */
export function useAnswer<Route extends OperatorRoute>(route: Route, ...input: InputArguments<Route>) {
  return useQuery(answerOf(route, ...input));
}

/**
 * A route that changes something. Everything on the screen is read again before its answer is shown, or after its refusal.
 * `gcTime: 0`: once it is reset, its answer is forgotten at once, and not after some minutes.
 */
export function useChange<Route extends OperatorRoute>(route: Route, options: { gcTime?: 0 } = {}) {
  const queries = useQueryClient();
  return useMutation<AnswerOf<Route>, Error, RouteInput<Route>>({
    ...options,
    mutationFn: (input) => callOperator(route, input),
    onSuccess: () => queries.invalidateQueries(),
    // A refusal is said at once: without a connection, reading again takes seconds.
    onError: () => void queries.invalidateQueries(),
  });
}
