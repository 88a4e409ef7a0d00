import type { AdForPlayer } from "@intermission/ad-core/player-api";
import type { AdReportReason } from "@intermission/ad-core/wire-fields";
import { type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import { reportAd } from "../ad-service-client.ts";
import { useTranslator } from "../locales/use-translator.tsx";
import { Button } from "../ui/button.tsx";
import { openModal } from "../ui/modal.ts";
import type { AboutTexts } from "./texts/about-texts.ts";
import { loadAboutTexts } from "./texts/load-about-texts.ts";

interface AboutSheetProps {
  ad: AdForPlayer;
  sessionId: string;
  token: string;
  /** The step that it opens with. */
  first?: AboutStep;
  onClose: () => void;
  /** Instead of the ad service's. */
  report?: typeof reportAd;
}

export type AboutStep = "about" | "reasons" | "sending" | "thanks" | "failed";

/** The sessions whose ad was reported from this page: each ad is reported once. */
const reported = new Set<string>();

/** Who pays for the ad, why it is shown, what the law requires to say, and the way to report it. */
export function AboutSheet(props: AboutSheetProps) {
  const { language } = useTranslator();
  const [texts, setTexts] = useState<AboutTexts>();
  useEffect(() => {
    loadAboutTexts(language).then(setTexts);
  }, [language]);
  return texts ? <AboutDialog {...props} texts={texts} /> : null;
}

function AboutDialog({
  ad,
  sessionId,
  token,
  first = "about",
  onClose,
  report = reportAd,
  texts,
}: AboutSheetProps & { texts: AboutTexts }) {
  const { text } = useTranslator();
  const [step, setStep] = useState<AboutStep>(first);
  const reason = useRef<AdReportReason>("other");
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useLayoutEffect(() => {
    if (!dialog.current) return undefined;
    const close = openModal(dialog.current, onClose);
    return () => {
      close();
      focusLabel();
    };
  }, [onClose]);

  const send = async () => {
    setStep("sending");
    const isSent = (await report(sessionId, { token, reason: reason.current })).outcome === "answered";
    if (isSent) reported.add(sessionId);
    setStep(isSent ? "thanks" : "failed");
  };

  const steps = {
    about: () => (
      <>
        <Title id={titleId}>{texts.title}</Title>
        <Facts ad={ad} texts={texts} />
        {reported.has(sessionId) ? (
          <p className="secondary">{texts.thanks}</p>
        ) : (
          <Button look="danger" onClick={() => setStep("reasons")}>
            {texts.report}
          </Button>
        )}
      </>
    ),
    reasons: () => (
      <>
        <Title id={titleId}>{texts.question}</Title>
        <Reasons
          texts={texts}
          onChoose={(chosen) => {
            reason.current = chosen;
            send();
          }}
        />
      </>
    ),
    sending: () => (
      <Title id={titleId}>
        <span className="spinner" />
        <span className="only-heard">{text("player.buffering")}</span>
      </Title>
    ),
    thanks: () => <Title id={titleId}>{texts.thanks}</Title>,
    failed: () => (
      <>
        <Title id={titleId}>{texts.failed}</Title>
        <Button look="secondary" onClick={send}>
          {text("action.tryAgain")}
        </Button>
      </>
    ),
  } satisfies Record<AboutStep, () => ReactNode>;

  return (
    <dialog ref={dialog} className="dialog about" aria-labelledby={titleId}>
      <div key={step}>{steps[step]()}</div>
      <Button onClick={onClose}>{text("action.close")}</Button>
    </dialog>
  );
}

/**
 * The label that opened the sheet may be gone: the service can confirm the view meanwhile, and then the label of the end card
 * has its place. The browser focuses none that is hidden.
 */
function focusLabel(): void {
  for (const label of document.querySelectorAll<HTMLElement>(".badge")) {
    label.focus({ preventScroll: true });
    if (document.activeElement === label) return;
  }
}

const reasons = Object.keys({
  misleading: true,
  scam: true,
  offensive: true,
  illegal: true,
  broken: true,
  other: true,
} satisfies Record<AdReportReason, true>) as AdReportReason[];

function Reasons({ texts, onChoose }: { texts: AboutTexts; onChoose: (reason: AdReportReason) => void }) {
  return reasons.map((each) => (
    <Button key={each} look="secondary" onClick={() => onChoose(each)}>
      {texts[`report-${each}`]}
    </Button>
  ));
}

/** It takes the focus at each step, as the button that led there is gone. */
function Title({ id, children }: { id: string; children: ReactNode }) {
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus({ preventScroll: true }), []);
  return (
    <h2 ref={title} id={id} tabIndex={-1}>
      {children}
    </h2>
  );
}

function Facts({ ad, texts }: { ad: AdForPlayer; texts: AboutTexts }) {
  const { text } = useTranslator();
  const used = ad.shown_because ?? [];
  // A newer service may name a reason that has no text here.
  const targets = used.filter((each) => each !== "network" && texts[`because-${each}`] !== undefined);
  return (
    <dl>
      <dt>{text("offer.advertiser")}</dt>
      <dd>
        <bdi>{ad.advertiser}</bdi>
      </dd>
      {ad.title ? (
        <>
          <dt>{text("adLabel")}</dt>
          <dd dir="auto">{ad.title}</dd>
        </>
      ) : null}
      <dt>{texts.why}</dt>
      <dd>
        {used.length === 0 ? <p>{texts.everyone}</p> : null}
        {used.includes("network") ? <p>{texts["because-network"]}</p> : null}
        {targets.length > 0 ? (
          <>
            <p>{texts.targeted}</p>
            <ul>
              {targets.map((each) => (
                <li key={each}>{texts[`because-${each}`]}</li>
              ))}
            </ul>
          </>
        ) : null}
      </dd>
      {ad.marking || ad.legal_line ? (
        <>
          <dt>{texts.legal}</dt>
          {ad.marking ? <dd lang="ru">{ad.marking}</dd> : null}
          {ad.legal_line ? <dd dir="auto">{ad.legal_line}</dd> : null}
        </>
      ) : null}
    </dl>
  );
}
