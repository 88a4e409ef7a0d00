import { type Bot, botRoutes, type PictureOfBot } from "@intermission/operator-api/bots";
import { mediaAddress } from "../operator/media-address.ts";
import { useMay } from "../session/use-session.ts";
import { Button } from "../ui/button.tsx";
import { FileButton } from "../ui/file-button.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useWords } from "../words/word-table.ts";
import { pictureWords } from "./picture-words.ts";

/** What the bot's users see of it in the mini-app, besides words. */
export function PicturesPanel({ bot: { botId, pictureFileName, unitIconFileName } }: { bot: Bot }) {
  const words = useWords(pictureWords);
  return (
    <section className="panel narrow stack" aria-labelledby="pictures">
      <h2 id="pictures">{words.title}</h2>
      <Picture botId={botId} picture="bot" fileName={pictureFileName} label={words.ofBot} hint={words.botHint} />
      <Picture botId={botId} picture="unit" fileName={unitIconFileName} label={words.ofUnit} hint={words.unitHint} />
    </section>
  );
}

interface PictureProps {
  botId: string;
  picture: PictureOfBot;
  fileName: string | null;
  label: string;
  hint: string;
}

function Picture({ botId, picture, fileName, label, hint }: PictureProps) {
  const words = useWords(pictureWords);
  const may = useMay();
  const notice = useNotice();
  const set = useConfirmedChange(botRoutes.setBotPicture);
  const remove = useConfirmedChange(botRoutes.removeBotPicture);
  const params = { botId, picture };
  const onFile = (body: File) =>
    void set.run({ params, query: { name: body.name }, body }, () => notice({ text: words.changed }));
  const onRemove = () => void remove.run({ params }, () => notice({ text: words.removed }));
  return (
    <div className="bot-picture">
      {fileName === null ? (
        <span className="no-picture">{words.none}</span>
      ) : (
        <img className={`picture-of-${picture}`} src={mediaAddress(fileName)} alt={label} width="64" height="64" />
      )}
      <div>
        <h3>{label}</h3>
        <p className="hint">{hint}</p>
        {may("setBotPicture") && (
          <div className="row">
            <FileButton accept="image/jpeg,image/png,image/webp" isBusy={set.isPending} onFile={onFile}>
              {fileName === null ? words.choose : words.replace}
            </FileButton>
            {fileName !== null && (
              <Button look="quiet" isBusy={remove.isPending} onClick={onRemove}>
                {words.remove}
              </Button>
            )}
          </div>
        )}
      </div>
    </div>
  );
}
