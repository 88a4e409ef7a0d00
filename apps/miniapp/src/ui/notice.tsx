import { Fragment, type ReactNode } from "react";
import { useStateName } from "./hooks.ts";
import { Icon, type IconName } from "./icon.tsx";
import { Heading } from "./texts.tsx";

export type Tone = "plain" | "good" | "bad";

interface NoticeProps {
  /** Name of the page's state. */
  state: string;
  icon: IconName | "spinner";
  tone?: Tone;
  title: ReactNode;
  children?: ReactNode;
  /** The main action, in the foot. */
  action?: ReactNode;
  /** Content outside the live region: screen readers do not announce its changes. */
  below?: ReactNode;
  /** Plays the success animation. */
  isCelebrated?: boolean;
  /** Screen readers announce changes without moving the focus. */
  isLive?: boolean;
  /** The texts that follow one another here: there is room for the longest, so that what is below does not move. */
  roomFor?: readonly NoticeTexts[];
}

export interface NoticeTexts {
  title: string;
  amount?: string;
  lines: readonly string[];
}

/** A full-screen message: a picture, a heading, a sentence and at most one action. */
export function Notice(props: NoticeProps) {
  const {
    state,
    icon,
    tone = "plain",
    title,
    children,
    below,
    action,
    isLive = false,
    isCelebrated = false,
    roomFor = [],
  } = props;
  useStateName(state);
  return (
    <main className="notice">
      <div className="notice-body">
        <div className="notice-room">
          <div className="notice-words" role={isLive ? "status" : undefined}>
            <div className={`notice-picture tone-${tone}${isCelebrated ? " celebrated" : ""}`}>
              {icon === "spinner" ? <span className="spinner" /> : <Icon name={icon} />}
            </div>
            <Heading>
              <span key={state}>{title}</span>
            </Heading>
            {/* New elements for each state, so that changed texts do not count as layout shifts. */}
            <Fragment key={state}>{children}</Fragment>
          </div>
          {roomFor.map((texts) => (
            <Room key={texts.title} {...texts} />
          ))}
        </div>
        {below}
      </div>
      <div className="foot">{action}</div>
    </main>
  );
}

/** As high as these texts, and invisible: they are generated content, which no screen reader and no search finds. */
function Room({ title, amount, lines }: NoticeTexts) {
  return (
    <div className="notice-words notice-measure" aria-hidden="true">
      <div className="notice-picture" />
      <div className="title" data-text={title} />
      {amount === undefined ? null : <div className="amount" data-text={amount} />}
      {lines.map((line) => (
        <div key={line} className="secondary" data-text={line} />
      ))}
    </div>
  );
}
