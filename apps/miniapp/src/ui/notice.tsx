import { Fragment, type ReactNode, useEffect, useRef } from "react";
import { Icon, type IconName } from "./icon.tsx";
import { useStateName } from "./use-state-name.ts";

interface NoticeProps {
  /** What the page's state is called. */
  state: string;
  icon: IconName | "spinner";
  tone?: "plain" | "good" | "bad";
  title: ReactNode;
  children?: ReactNode;
  /** The one thing to do, at the foot. */
  action?: ReactNode;
  /** What belongs to it and is not read aloud each time it changes. */
  below?: ReactNode;
  /** Something good just happened. */
  isCelebrated?: boolean;
  /** Screen readers hear what changes here without being moved. */
  isLive?: boolean;
}

/** A full-screen message: a picture, a heading, a sentence and at most one thing to do. */
export function Notice(props: NoticeProps) {
  const { state, icon, tone = "plain", title, children, below, action, isLive = false, isCelebrated = false } = props;
  useStateName(state);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <main className="notice">
      <div className="notice-body">
        <div className="notice-words" role={isLive ? "status" : undefined}>
          <div className={`notice-picture tone-${tone}${isCelebrated ? " celebrated" : ""}`}>
            {icon === "spinner" ? <span className="spinner" /> : <Icon name={icon} />}
          </div>
          <h1 ref={heading} tabIndex={-1}>
            <span key={state}>{title}</span>
          </h1>
          {/* Other words are other elements: none of them has moved. */}
          <Fragment key={state}>{children}</Fragment>
        </div>
        {below}
      </div>
      <div className="foot">{action}</div>
    </main>
  );
}
