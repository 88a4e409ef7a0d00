import { type Creative, creativeRoutes } from "@intermission/operator-api/creatives";
import { useState } from "react";
import { mediaAddress } from "../operator/media-address.ts";
import { useMay } from "../session/use-session.ts";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { FileButton } from "../ui/file-button.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useWords } from "../words/word-table.ts";
import { useChangedNotice } from "./use-changed-notice.ts";
import { creativeWords } from "./words.ts";

/** The poster and the captions of a stored video. */
export function CreativeFiles({ creative }: { creative: Creative }) {
  const words = useWords(creativeWords);
  const may = useMay();
  const setPoster = useConfirmedChange(creativeRoutes.setPoster);
  const tell = useChangedNotice();
  const { creativeId, posterFileName } = creative;
  return (
    <section className="panel stack" aria-labelledby="files">
      <h2 id="files">{words.files}</h2>
      <div className="row">
        {posterFileName !== null && (
          <img className="large-poster" src={mediaAddress(posterFileName)} alt={words.poster} />
        )}
        {may("setPoster") && (
          <div>
            <FileButton
              accept="image/jpeg,image/png,image/webp"
              isBusy={setPoster.isPending}
              onFile={(file) =>
                void setPoster.run({ params: { creativeId }, query: { name: file.name }, body: file }, tell)
              }
            >
              {words.replacePoster}
            </FileButton>
            <p className="hint">{words.posterHint}</p>
          </div>
        )}
      </div>
      <Captions creative={creative} />
    </section>
  );
}

function Captions({ creative: { creativeId, captions } }: { creative: Creative }) {
  const words = useWords(creativeWords);
  const may = useMay();
  const notice = useNotice();
  const [isAdded, setAdded] = useState(false);
  const remove = useConfirmedChange(creativeRoutes.removeCaptions);
  return (
    <div>
      <h3>{words.captions}</h3>
      {captions.length === 0 && <p className="secondary">{words.noCaptions}</p>}
      <ul className="captions">
        {captions.map(({ language, fileName }) => (
          <li key={language} className="row">
            <a className="link" href={mediaAddress(fileName)} target="_blank" rel="noreferrer" lang={language}>
              {language}
            </a>
            {may("removeCaptions") && (
              <Button
                look="quiet"
                icon="close"
                isBusy={remove.isPending}
                aria-label={words.removeCaptions(language)}
                title={words.removeCaptions(language)}
                onClick={() =>
                  void remove.run({ params: { creativeId, language } }, () =>
                    notice({ text: words.captionsRemoved(language) }),
                  )
                }
              />
            )}
          </li>
        ))}
      </ul>
      {may("setCaptions") && <Button onClick={() => setAdded(true)}>{words.addCaptions}</Button>}
      {isAdded && <CaptionsDialog creativeId={creativeId} onClose={() => setAdded(false)} />}
    </div>
  );
}

function CaptionsDialog({ creativeId, onClose }: { creativeId: string; onClose: () => void }) {
  const words = useWords(creativeWords);
  const tell = useChangedNotice();
  const add = useConfirmedChange(creativeRoutes.setCaptions);
  const [language, setLanguage] = useState("");
  const [file, setFile] = useState<File>();
  const [isMissing, setMissing] = useState(false);
  const submit = () => {
    setMissing(file === undefined);
    if (file === undefined) return;
    void add.run({ params: { creativeId, language: language.trim() || "?" }, body: file }, (changed) => {
      onClose();
      tell(changed);
    });
  };
  return (
    <FormDialog
      title={words.addCaptions}
      submitText={words.attachIt}
      isBusy={add.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label={words.language} hint={words.languageHint}>
        {(control) => <input {...control} value={language} onChange={(event) => setLanguage(event.target.value)} />}
      </Field>
      <Field label={words.captionsFile} fault={isMissing && file === undefined ? words.chooseFile : undefined}>
        {(control) => (
          <input
            {...control}
            type="file"
            accept=".vtt,text/vtt"
            onChange={(event) => setFile(event.target.files?.[0])}
          />
        )}
      </Field>
    </FormDialog>
  );
}
