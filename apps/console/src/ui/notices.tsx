import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useId,
  useLayoutEffect,
  useMemo,
  useState,
} from "react";
import { useWords } from "../words/word-table.ts";
import { Icon } from "./icon.tsx";
import { uiWords } from "./words.ts";

interface Notice {
  text: string;
  look?: "done" | "failed";
  /** Takes back what the notice is about. */
  onUndo?: () => void;
}

const NOTICE_MS = 8000;
const MAX_NOTICES = 3;

const NoticeContext = createContext<(notice: Notice) => void>(() => {});

interface NoticePlace {
  list: ReactNode;
  /** The dialog on top; undefined: none is open. */
  dialog: string | undefined;
  /** Called by a dialog that opens; returns what to call when it closes. */
  enter: (dialog: string) => () => void;
}

const PlaceContext = createContext<NoticePlace>({ list: null, dialog: undefined, enter: () => () => {} });

/** The notices while a dialog is on top: the page under it is dark, and neither read out nor pressed. */
export function NoticesOfDialog() {
  const id = useId();
  const { list, dialog, enter } = useContext(PlaceContext);
  useLayoutEffect(() => enter(id), [enter, id]);
  return (
    <div className="notices" role="status">
      {dialog === id && list}
    </div>
  );
}

/** Says what happened: a line at the edge of the window for some seconds, which screen readers read out. */
export function useNotice(): (notice: Notice) => void {
  return useContext(NoticeContext);
}

export function Notices({ children }: { children: ReactNode }) {
  const words = useWords(uiWords);
  const [notices, setNotices] = useState<readonly (Notice & { id: number })[]>([]);
  const remove = useCallback((id: number) => setNotices((all) => all.filter((one) => one.id !== id)), []);
  const add = useCallback(
    (notice: Notice) => {
      const id = Math.random();
      setNotices((all) => [...all, { ...notice, id }].slice(-MAX_NOTICES));
      setTimeout(() => remove(id), NOTICE_MS);
    },
    [remove],
  );
  const list = useMemo(
    () =>
      notices.map(({ id, text, look = "done", onUndo }) => (
        <div key={id} className={`notice notice-${look}`}>
          <span>{text}</span>
          {onUndo !== undefined && (
            <button
              type="button"
              className="link"
              onClick={() => {
                remove(id);
                onUndo();
              }}
            >
              {words.undo}
            </button>
          )}
          <button type="button" className="notice-close" aria-label={words.dismiss} onClick={() => remove(id)}>
            <Icon name="close" />
          </button>
        </div>
      )),
    [notices, remove, words],
  );
  const [dialogs, setDialogs] = useState<readonly string[]>([]);
  const enter = useCallback((dialog: string) => {
    setDialogs((open) => [...open, dialog]);
    return () => setDialogs((open) => open.filter((one) => one !== dialog));
  }, []);
  const dialog = dialogs.at(-1);
  const place = useMemo(() => ({ list, dialog, enter }), [list, dialog, enter]);
  return (
    <NoticeContext value={add}>
      <PlaceContext value={place}>{children}</PlaceContext>
      <div className="notices" role="status">
        {dialog === undefined && list}
      </div>
    </NoticeContext>
  );
}
