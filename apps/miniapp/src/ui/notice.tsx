import { type ReactNode, useEffect, useRef } from "react";
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
  /** Screen readers hear what changes here without being moved. */
  isLive?: boolean;
}

/** A full-screen message: a picture, a heading, a sentence and at most one thing to do. */
export function Notice({ state, icon, tone = "plain", title, children, action, isLive = false }: NoticeProps) {
  useStateName(state);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <main className="notice">
      <div className="notice-body" role={isLive ? "status" : undefined}>
        <div className={`notice-picture tone-${tone}`}>
          {icon === "spinner" ? <span className="spinner" /> : <Icon name={icon} />}
        </div>
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {children}
      </div>
      <div className="foot">{action}</div>
    </main>
  );
}
