import { isReading } from "@intermission/operator-api/access";
import type { OperatorRouteName } from "@intermission/operator-api/operator-routes";
import { type CurrentSession, type Person, sessionRoutes } from "@intermission/operator-api/session";
import { type QueryClient, queryOptions } from "@tanstack/react-query";
import { createContext, useContext, useEffect } from "react";
import { CallError, callOperator } from "../operator/call-operator.ts";

const KEY = ["session"];
/** Kept while somebody is signed in: without it no request is made, which browsers would report as failed. */
const HINT = "console-session";
/** Kept by this window from when a session has ended by itself until the next one begins. */
const ENDED = "console-session-ended";

export type { CurrentSession };

/** Who is signed in, or whom that person sees the console as; null: nobody is. */
export const sessionQuery = queryOptions({
  queryKey: KEY,
  async queryFn({ signal }): Promise<CurrentSession | null> {
    if (localStorage.getItem(HINT) === null) return null;
    try {
      return await callOperator(sessionRoutes.showSession, undefined, signal);
    } catch (error) {
      // 404: without OPERATOR_TOKEN, a request without a session is answered as an unknown path.
      if (!(error instanceof CallError && (error.status === 401 || error.status === 404))) throw error;
      noteEnd();
      return null;
    }
  },
});

/** Nothing that another person saw stays in memory. */
export function startSession(
  queries: QueryClient,
  { person, expiresAt, routes }: Omit<CurrentSession, "seenBy">,
): void {
  changeSession(queries, { person, expiresAt, routes, seenBy: null });
}

/** Also when the person begins or ends to see the console as another one. */
export function changeSession(queries: QueryClient, session: CurrentSession): void {
  // Another value each time, so that the other windows of this browser notice.
  localStorage.setItem(HINT, String(Date.now()));
  sessionStorage.removeItem(ENDED);
  become(queries, session);
}

/** The person signs out: nothing of what was typed stays in this window. */
export function endSession(queries: QueryClient): void {
  loseSession(queries);
  sessionStorage.clear();
}

/** The session has ended by itself, as after a day without use: drafts wait for the same person. */
export function loseSession(queries: QueryClient): void {
  noteEnd();
  become(queries, null);
}

function noteEnd(): void {
  localStorage.removeItem(HINT);
  sessionStorage.setItem(ENDED, "true");
}

/** Whether who was signed in here did not sign out, so that the page to sign in is a surprise. */
export function hasSessionEnded(): boolean {
  return sessionStorage.getItem(ENDED) !== null;
}

/** Screens follow the query of the session, so it is changed and not removed. */
function become(queries: QueryClient, session: CurrentSession | null): void {
  queries.setQueryData(KEY, session);
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== KEY[0] });
  queries.getMutationCache().clear();
}

/** Another window of this browser has signed in or out, or sees the console as another person: what is shown here is not theirs. */
export function useSessionOfOtherWindows(): void {
  useEffect(() => {
    // Browsers tell it to the other windows only.
    const onStorage = ({ key }: StorageEvent) => key === HINT && location.reload();
    window.addEventListener("storage", onStorage);
    return () => window.removeEventListener("storage", onStorage);
  }, []);
}

export const PersonContext = createContext<Person | undefined>(undefined);

interface Rights {
  /** Which the server says that the person's role may use. */
  routes: readonly string[];
  /** Whether the console is seen as another person: then nothing can be changed. */
  isReadOnly: boolean;
}

/** Without the shell, nothing is allowed. */
export const RightsContext = createContext<Rights>({ routes: [], isReadOnly: true });

/** The person who is signed in. Only inside of the shell. */
export function usePerson(): Person {
  const person = useContext(PersonContext);
  if (person === undefined) throw new Error("this is shown to people who are signed in");
  return person;
}

/** Whether the person's role may use a route at all: on which objects, the server decides. */
export function useRoleMay(): (route: OperatorRouteName) => boolean {
  const { routes } = useContext(RightsContext);
  return (route) => routes.includes(route);
}

/**
 * Whether the person who is signed in may use a route, so that screens offer only what works. Seen as another person, the
 * console offers nothing that changes something; the banner says why.
 */
export function useMay(): (route: OperatorRouteName) => boolean {
  const roleMay = useRoleMay();
  const { isReadOnly } = useContext(RightsContext);
  return (route) => roleMay(route) && (!isReadOnly || isReading(route));
}
