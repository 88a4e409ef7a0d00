import { type BoughtCreative, boughtCreativeRoutes } from "@intermission/operator-api/bought-creatives";
import { CARD_TYPE } from "@intermission/operator-api/creative-words";
import { useState } from "react";

import { useAnswer, useChange } from "../operator/use-operator.ts";
import { useMay } from "../session/use-session.ts";
import { AnswerView, useFailedNotice } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { PhonePreview } from "./phone-preview.tsx";
import { boughtCreativeWords } from "./words.ts";

/** Shows buyers' creatives that are unreviewed, or that viewers have reported, one after another. */
export function BoughtQueue() {
  const words = useWords(boughtCreativeWords);
  const queue = useAnswer(boughtCreativeRoutes.listBoughtCreatives, { query: { review: "queue", limit: 20 } });
  return (
    <section className="stack" aria-labelledby="bought">
      <h2 id="bought">{words.boughtCreatives}</h2>
      <p className="hint">{words.boughtHint}</p>
      <AnswerView query={queue}>
        {({ creatives: [first] }) =>
          first === undefined ? (
            <p className="secondary">{words.nothingBought}</p>
          ) : (
            <Bought key={`${first.boughtCreativeId} ${first.revision}`} bought={first} />
          )
        }
      </AnswerView>
    </section>
  );
}

function Bought({ bought }: { bought: BoughtCreative }) {
  const words = useWords(boughtCreativeWords);
  const { ago, dateTime } = useFormats();
  const { advertiser, buyer, title, creativeId, domains, landingHosts, landingUrl, review, reports, firstSeenAt } =
    bought;
  const { mediaUrl: media_url, mediaType: media_type, durationMs: duration_ms, width, height } = bought;
  const name = title ?? creativeId ?? media_url;
  const ad = {
    advertiser: advertiser ?? buyer,
    media_url,
    media_type,
    duration_ms,
    width,
    height,
    lighter_media: [],
    captions: [],
  };
  const landing = landingUrl !== null && {
    call_to_action: { url: landingUrl, label: new URL(landingUrl).hostname.slice(0, 40) },
  };
  const facts = {
    [words.boughtBy]: buyer,
    [words.domains]: domains.join(", ") || "–",
    [words.leadsTo]: landingHosts.join(", ") || words.nowhere,
    [words.offeredOf]: words.offered({ offered: bought.offered, limit: bought.firstSeenLimit }),
    [words.reports]: review === "reported" ? `${reports} (${words.reported})` : String(reports),
  };
  return (
    <div className="beside-phone">
      {media_type === CARD_TYPE ? null : <PhonePreview ad={{ ...ad, ...landing }} />}
      <section className="panel stack" aria-labelledby="bought-name">
        <h3 id="bought-name">{name}</h3>
        <dl className="facts">
          {Object.entries(facts).map(([fact, value]) => (
            <div key={fact}>
              <dt>{fact}</dt>
              <dd>{value}</dd>
            </div>
          ))}
          {media_type === CARD_TYPE && media_url !== landingUrl && (
            <div>
              <dt>{words.picture}</dt>
              <dd>
                <a href={media_url} target="_blank" rel="noreferrer">
                  {new URL(media_url).hostname}
                </a>
              </dd>
            </div>
          )}
          <div>
            <dt>{words.firstSeen}</dt>
            <dd title={dateTime(firstSeenAt)}>{ago(firstSeenAt)}</dd>
          </div>
        </dl>
        <Decision bought={bought} name={name} />
      </section>
    </div>
  );
}

function Decision({ bought: { boughtCreativeId, revision }, name }: { bought: BoughtCreative; name: string }) {
  const words = useWords(boughtCreativeWords);
  const may = useMay();
  const notice = useNotice();
  const onError = useFailedNotice();
  const approval = useChange(boughtCreativeRoutes.approveBoughtCreative);
  const refusal = useChange(boughtCreativeRoutes.refuseBoughtCreative);
  const [reason, setReason] = useState("");
  if (!may("approveBoughtCreative")) return null;
  const params = { boughtCreativeId };
  const approve = () =>
    approval.mutate(
      { params, body: { revision } },
      { onError, onSuccess: () => notice({ text: words.approved(name) }) },
    );
  const refuse = () =>
    refusal.mutate(
      { params, body: { revision, reason: reason.trim() } },
      { onError, onSuccess: () => notice({ text: words.refused(name) }) },
    );
  return (
    <>
      <Field label={words.reasonOf}>
        {(props) => (
          <input {...props} value={reason} maxLength={500} onChange={(event) => setReason(event.target.value)} />
        )}
      </Field>
      <div className="row">
        <Button look="primary" isBusy={approval.isPending} onClick={approve}>
          {words.approve}
        </Button>
        <Button look="danger" isBusy={refusal.isPending} disabled={reason.trim() === ""} onClick={refuse}>
          {words.refuse}
        </Button>
      </div>
    </>
  );
}
