import { creativeRoutes, type VastTrial } from "@intermission/operator-api/creatives";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { useChange } from "../operator/use-operator.ts";
import { useMay } from "../session/use-session.ts";
import { Failure } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { useNotice } from "../ui/notices.tsx";
import { Page } from "../ui/page.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useFormats } from "../words/formats.ts";
import { useLanguage, useWords } from "../words/word-table.ts";
import { PhonePreview } from "./phone-preview.tsx";
import { vastReasonText } from "./vast-reason-text.ts";
import { VastSteps } from "./vast-steps.tsx";
import { adviceOf, dropWords, vastWords } from "./vast-words.ts";
import "./creatives.css";

const route = getRouteApi("/shell/creatives/vast");

/** Tries a VAST tag before it is sold: what each request was answered, which media a viewer would get, and why none. */
export function VastScreen() {
  const words = useWords(vastWords);
  const { url = "" } = route.useSearch();
  const navigate = route.useNavigate();
  const [typed, setTyped] = useState(url);
  const trial = useChange(creativeRoutes.tryVastTag);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (trial.isPending) return;
    const tag = typed.trim();
    void navigate({ search: { url: tag || undefined }, replace: true });
    trial.mutate({ body: { url: tag } });
  };
  return (
    <Page title={words.title}>
      <div className="stack">
        <form className="one-field" onSubmit={submit} noValidate>
          <Field label={words.tag} hint={words.hint}>
            {(control) => (
              <input
                {...control}
                type="url"
                value={typed}
                placeholder="https://tags.example/vast?cb=[CACHEBUSTING]"
                onChange={(event) => setTyped(event.target.value)}
              />
            )}
          </Field>
          <Button look="primary" type="submit" isBusy={trial.isPending}>
            {words.tryIt}
          </Button>
        </form>
        {trial.error !== null && <Failure error={trial.error} onRetry={() => trial.mutate({ body: { url: typed } })} />}
        {trial.data && <Result key={trial.submittedAt} trial={trial.data} url={trial.variables.body.url} />}
      </div>
    </Page>
  );
}

function Result({ trial: { steps, ad, fault, dropped }, url }: { trial: VastTrial; url: string }) {
  const words = useWords(vastWords);
  const language = useLanguage();
  const drops = dropWords[language];
  return (
    <div className="stack" role="status">
      {ad !== null && <Media ad={ad} url={url} />}
      {fault !== null && (
        <section className="panel stack" aria-labelledby="fault">
          <h2 id="fault">{words.noAd}</h2>
          <p className="fault">{words.fault({ code: fault.code, reason: vastReasonText(language, fault.reason) })}</p>
          <p>{adviceOf(words.advice, fault.code)}</p>
        </section>
      )}
      <section className="panel" aria-labelledby="chain">
        <h2 id="chain">{words.chain}</h2>
        <VastSteps steps={steps} />
      </section>
      {dropped.length > 0 && (
        <section className="panel" aria-labelledby="dropped">
          <h2 id="dropped">{words.dropped}</h2>
          <ul>
            {dropped.map(({ reason, count }) => (
              <li key={reason}>{`${drops[reason]}: ${count}`}</li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

function Media({ ad, url }: { ad: NonNullable<VastTrial["ad"]>; url: string }) {
  const words = useWords(vastWords);
  const { seconds, number } = useFormats();
  const [isPlayed, setPlayed] = useState(false);
  const { mediaUrl, mediaType, width, height, durationMs, clickThrough } = ad;
  const facts = {
    [words.adTitle]: ad.title,
    [words.advertiser]: ad.advertiser,
    [words.adSystem]: ad.adSystem,
    [words.adId]: ad.adId,
    [words.duration]: seconds(durationMs / 1000),
    [words.format]: `${mediaType}, ${width}×${height}`,
    [words.trackers]: number(ad.trackers),
  };
  const preview = {
    advertiser: ad.advertiser ?? ad.adSystem ?? words.network,
    media_url: mediaUrl,
    media_type: mediaType,
    duration_ms: durationMs,
    width,
    height,
    ...(clickThrough !== null && {
      call_to_action: { label: new URL(clickThrough).hostname.slice(0, 40), url: clickThrough },
    }),
  };
  return (
    <div className="beside-phone">
      {isPlayed && <PhonePreview ad={preview} />}
      <section className="panel stack" aria-labelledby="media">
        <h2 id="media">{words.media}</h2>
        <dl className="facts small-facts">
          {Object.entries(facts).map(
            ([name, value]) =>
              value !== null && (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>{value}</dd>
                </div>
              ),
          )}
        </dl>
        <p>
          <code>{mediaUrl}</code>
        </p>
        <div className="row">
          {!isPlayed && <Button onClick={() => setPlayed(true)}>{words.play}</Button>}
          <AddButton url={url} />
        </div>
        <p className="hint">{words.playHint}</p>
      </section>
    </div>
  );
}

function AddButton({ url }: { url: string }) {
  const words = useWords(vastWords);
  const may = useMay();
  const notice = useNotice();
  const navigate = useNavigate();
  const add = useConfirmedChange(creativeRoutes.addVastTag, words.add);
  if (!may("addVastTag")) return null;
  const onClick = () =>
    void add.run({ body: { url } }, ({ creativeId }) => {
      notice({ text: words.added });
      void navigate({ to: "/creatives/$creativeId", params: { creativeId } });
    });
  return (
    <>
      <Button look="primary" isBusy={add.isPending} onClick={onClick}>
        {words.add}
      </Button>
      {add.dialog}
    </>
  );
}
