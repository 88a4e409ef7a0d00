import type { VastTrial } from "@intermission/operator-api/creatives";
import { useFormats } from "../words/formats.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { vastReasonText } from "./vast-reason-text.ts";
import { vastWords } from "./vast-words.ts";

type Step = VastTrial["steps"][number];

/** The requests that a tag led to, in order, each with its answer. */
export function VastSteps({ steps }: { steps: readonly Step[] }) {
  const words = useWords(vastWords);
  const { number } = useFormats();
  return (
    <ol className="chain">
      {steps.map((step, index) => (
        // The same address may be requested twice, and the list never changes.
        <li key={index}>
          <code>{step.url}</code>
          <p>
            <Verdict step={step} /> <small>{words.took(number(step.milliseconds))}</small>
          </p>
        </li>
      ))}
    </ol>
  );
}

function Verdict({ step }: { step: Step }) {
  const words = useWords(vastWords);
  const language = useLanguage();
  const { bytes } = useFormats();
  switch (step.outcome) {
    case "redirect":
      return (
        <>
          <span className="pill">{words.redirect}</span> <code>{step.location}</code>
        </>
      );
    case "fault":
      return (
        <>
          <span className="pill pill-bad">{words.faultPill(step.code)}</span> {vastReasonText(language, step.reason)}
        </>
      );
    case "document":
      return (
        <>
          <span className="pill pill-good">{step.version === 0 ? "VAST" : `VAST ${step.version}`}</span>{" "}
          {step.ads.length === 0
            ? words.empty
            : step.ads
                .map(({ adSystem, title, id, wraps }) => {
                  const name = [adSystem, title ?? id].filter((part) => part !== null).join(": ");
                  return `${wraps === null ? words.inline : words.wrapper}${name === "" ? "" : ` (${name})`}`;
                })
                .join(", ")}
          <small>{` ${bytes(step.byteLength)}`}</small>
        </>
      );
    default:
      return step satisfies never;
  }
}
