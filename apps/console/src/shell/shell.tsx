import { useQuery } from "@tanstack/react-query";
import { Outlet, useLocation } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState } from "react";
import {
  PersonContext,
  RightsContext,
  sessionQuery,
  useMay,
  useRoleMay,
  useSessionOfOtherWindows,
} from "../session/use-session.ts";
import { Failure, Skeleton } from "../ui/answer-view.tsx";
import { ErrorBoundary } from "../ui/error-boundary.tsx";
import { Notices } from "../ui/notices.tsx";
import { shownLanguage } from "../words/word-files.ts";
import { LanguageContext, SetLanguageContext, useWords } from "../words/word-table.ts";
import type { FinderComponent } from "./finder-dialog.tsx";
import { ImpersonationBanner } from "./impersonation-banner.tsx";
import { Keyboard } from "./keyboard.tsx";
import { Navigation } from "./navigation.tsx";
import { NoPage } from "./no-page.tsx";
import { SampleBanner } from "./sample-banner.tsx";
import { neededFor } from "./sections.ts";
import { shellWords } from "./words.ts";
import "./shell.css";

const SignInScreen = lazy(async () => ({ default: (await import("../session/sign-in-screen.tsx")).SignInScreen }));

/** Around every page: the language, notices, and what is shown when a page fails. */
export function Root() {
  const [language, setLanguage] = useState(shownLanguage);
  const { pathname } = useLocation();
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  return (
    <LanguageContext value={language}>
      <SetLanguageContext value={setLanguage}>
        <ErrorBoundary page={pathname}>
          <Notices>
            <Outlet />
          </Notices>
        </ErrorBoundary>
      </SetLanguageContext>
    </LanguageContext>
  );
}

/** Around the screens for people who are signed in: for others, the page to sign in stands at the same address. */
export function Shell({ finder, loadFinder }: { finder: FinderComponent; loadFinder: () => Promise<unknown> }) {
  const words = useWords(shellWords);
  const session = useQuery(sessionQuery);
  const [isFinderOpen, setFinderOpen] = useState(false);
  useSessionOfOtherWindows();
  const { pathname } = useLocation();
  if (session.data === undefined) {
    return (
      <main className="lone">
        {session.error === null ? <Skeleton rows={3} /> : <Failure error={session.error} onRetry={session.refetch} />}
      </main>
    );
  }
  if (session.data === null) {
    return (
      <Suspense fallback={null}>
        <SignInScreen />
      </Suspense>
    );
  }
  return (
    <PersonContext value={session.data.person}>
      <RightsContext value={{ routes: session.data.routes, isReadOnly: session.data.seenBy !== null }}>
        <a className="skip" href="#content">
          {words.skip}
        </a>
        <Keyboard finder={finder} loadFinder={loadFinder} isFinderOpen={isFinderOpen} onFinder={setFinderOpen} />
        <div className="shell">
          <Navigation onFind={() => setFinderOpen(true)} />
          <div className="beside-sections">
            <ImpersonationBanner {...session.data} />
            <main id="content" className="content" tabIndex={-1}>
              <SampleBanner />
              <ErrorBoundary page={pathname}>
                <Suspense fallback={<Skeleton rows={6} />}>
                  <AllowedScreen pathname={pathname} />
                </Suspense>
              </ErrorBoundary>
            </main>
          </div>
        </div>
      </RightsContext>
    </PersonContext>
  );
}

/** The screen at an address, if the person's role has it: what would be refused is not offered. */
function AllowedScreen({ pathname }: { pathname: string }) {
  const roleMay = useRoleMay();
  const may = useMay();
  const { section, change } = neededFor(pathname.replace(/^\/console(?=\/|$)/, ""));
  const isFor = (section === undefined || roleMay(section)) && (change === undefined || may(change));
  return isFor ? <Outlet /> : <NoPage />;
}
