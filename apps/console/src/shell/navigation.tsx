import { sessionRoutes } from "@intermission/operator-api/session";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useLocation } from "@tanstack/react-router";
import { Fragment, lazy, Suspense, useContext, useEffect, useId, useRef } from "react";
import { callOperator } from "../operator/call-operator.ts";
import { endSession, useMay, usePerson } from "../session/use-session.ts";
import { useFailedNotice } from "../ui/answer-view.tsx";
import icon from "../ui/icon.svg";
import { Icon } from "../ui/icon.tsx";
import { useNotice } from "../ui/notices.tsx";
import { uiWords } from "../ui/words.ts";
import { type Language, languageNames, languages } from "../words/languages.ts";
import { roleWords } from "../words/role-words.ts";
import { changeLanguage } from "../words/word-files.ts";
import { keepLanguage, SetLanguageContext, useLanguage, useWords } from "../words/word-table.ts";
import { sectionGroups, tabsOf } from "./sections.ts";
import { useSections } from "./use-sections.ts";
import { shellWords } from "./words.ts";

/** Loaded after the first screen. */
const Bell = lazy(async () => ({ default: (await import("./bell.tsx")).Bell }));

/** Beside the content; in a narrow window, a bar above it with a menu, and one below it. */
export function Navigation({ onFind }: { onFind: () => void }) {
  const words = useWords(shellWords);
  const menu = useRef<HTMLDivElement>(null);
  const { pathname } = useLocation();
  // Another page closes the menu.
  useEffect(() => menu.current?.hidePopover?.(), [pathname]);
  return (
    <header className="side">
      <div className="side-head">
        <Link to="/" className="brand">
          <img src={icon} alt="" width="26" height="26" />
          <strong>Intermission</strong>
        </Link>
        <Suspense fallback={null}>
          <Bell />
        </Suspense>
        <button type="button" className="button button-quiet find-button" onClick={onFind}>
          <Icon name="search" />
          <span>{words.find}</span>
          <kbd>⌘K</kbd>
        </button>
        <button type="button" className="button button-quiet menu-button" popoverTarget="menu">
          <Icon name="menu" />
          {words.menu}
        </button>
      </div>
      <div className="side-menu" id="menu" ref={menu} popover="auto">
        <Sections />
        <Account />
      </div>
      <div className="side-body">
        <Sections />
        <Account />
      </div>
      <Tabs />
    </header>
  );
}

function Sections() {
  const words = useWords(shellWords);
  const shown = useSections();
  const id = useId();
  return (
    <nav aria-label={words.sections}>
      {sectionGroups.map((group) => {
        const ofGroup = shown.filter((section) => section.group === group);
        if (ofGroup.length === 0) return null;
        const name = group === "home" ? undefined : words.groups[group];
        return (
          <Fragment key={group}>
            {name !== undefined && (
              <p className="section-group" id={`${id}${group}`}>
                {name}
              </p>
            )}
            <ul className="sections" aria-labelledby={name && `${id}${group}`}>
              {ofGroup.map(({ to, word, icon }) => (
                <li key={to}>
                  <Link to={to} activeOptions={{ exact: to === "/" }} className="section">
                    <Icon name={icon} />
                    {words[word]}
                  </Link>
                </li>
              ))}
            </ul>
          </Fragment>
        );
      })}
    </nav>
  );
}

/** In a narrow window, at its lower edge. */
function Tabs() {
  const words = useWords(shellWords);
  return (
    <nav className="tabs" aria-label={words.sections}>
      {tabsOf(useSections()).map(({ to, word, icon }) => (
        <Link key={to} to={to} activeOptions={{ exact: to === "/" }} className="tab">
          <Icon name={icon} />
          {words[word]}
        </Link>
      ))}
    </nav>
  );
}

/** On the first screen in a narrow window: the sections that are not at its lower edge, so that each is one tap away. */
export function MoreSections() {
  const words = useWords(shellWords);
  const shown = useSections();
  const tabs = tabsOf(shown);
  if (tabs.length === shown.length) return null;
  return (
    <nav className="more-sections" aria-label={words.moreSections}>
      {shown
        .filter((section) => !tabs.includes(section))
        .map(({ to, word, icon }) => (
          <Link key={to} to={to} className="button button-plain">
            <Icon name={icon} />
            {words[word]}
          </Link>
        ))}
    </nav>
  );
}

/** Seen as another person, the console has no way to end that person's sessions. */
function Account() {
  const words = useWords(shellWords);
  const { email, role } = usePerson();
  const may = useMay();
  const language = useLanguage();
  const choose = useChoiceOfLanguage();
  const signOut = useSignOut();
  return (
    <details className="account">
      <summary>
        <Icon name="person" />
        <span>
          <span className="account-email">{email}</span>
          <small>{roleWords[language][role]}</small>
        </span>
      </summary>
      <div className="account-menu">
        <fieldset className="languages">
          <legend className="only-heard">{words.language}</legend>
          {languages.map((one) => (
            <button
              key={one}
              type="button"
              className="link"
              lang={one}
              aria-pressed={one === language}
              onClick={() => choose(one)}
            >
              {languageNames[one]}
            </button>
          ))}
        </fieldset>
        {may("signOut") && (
          <>
            <Link to="/account" className="link">
              {words.signInMethods}
            </Link>
            <button type="button" className="link" onClick={() => signOut("here")}>
              {words.signOut}
            </button>
            <button type="button" className="link" onClick={() => signOut("everywhere")}>
              {words.signOutEverywhere}
            </button>
          </>
        )}
      </div>
    </details>
  );
}

function useChoiceOfLanguage(): (language: Language) => Promise<void> {
  const words = useWords(uiWords);
  const setLanguage = useContext(SetLanguageContext);
  const notice = useNotice();
  return async (language) => {
    try {
      if (!(await changeLanguage(language))) return;
    } catch {
      notice({ text: words.unreachable, look: "failed" });
      return;
    }
    // Before it is kept, which a browser may refuse: the words that load from now on are of this language.
    setLanguage(language);
    keepLanguage(language);
  };
}

function useSignOut(): (where: "here" | "everywhere") => Promise<void> {
  const words = useWords(shellWords);
  const queries = useQueryClient();
  const notice = useNotice();
  const onFailed = useFailedNotice();
  return async (where) => {
    try {
      await callOperator(where === "here" ? sessionRoutes.signOut : sessionRoutes.signOutEverywhere, undefined);
    } catch (error) {
      if (error instanceof Error) onFailed(error);
      return;
    }
    endSession(queries);
    if (where === "everywhere") notice({ text: words.signedOutEverywhere });
  };
}
