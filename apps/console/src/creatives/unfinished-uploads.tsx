import { creativeRoutes } from "@intermission/operator-api/creatives";
import { useQuery } from "@tanstack/react-query";
import { answerOf, useChange } from "../operator/use-operator.ts";
import { useFailedNotice } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { creativeWords } from "./words.ts";

/** The reader's uploads that were interrupted, which count towards the limit: each can be removed. */
export function UnfinishedUploads() {
  const words = useWords(creativeWords);
  const { bytes } = useFormats();
  const notice = useNotice();
  const onFailed = useFailedNotice();
  const { data } = useQuery(answerOf(creativeRoutes.listUploads));
  const removal = useChange(creativeRoutes.removeUpload);
  if (data === undefined || data.uploads.length === 0) return null;
  return (
    <section aria-label={words.unfinished}>
      <p>
        <strong>{words.unfinished}</strong> <span className="secondary">{words.unfinishedHint}</span>
      </p>
      <ul className="unfinished">
        {data.uploads.map(({ uploadId, name, sent, byteLength }) => {
          const file = name ?? words.unnamedFile;
          return (
            <li key={uploadId} className="row">
              <span>{`${file}: ${bytes(sent)} / ${bytes(byteLength)}`}</span>
              <Button
                aria-label={words.removeUploadOf(file)}
                isBusy={removal.isPending}
                onClick={() =>
                  removal.mutate(
                    { params: { uploadId } },
                    {
                      onSuccess: () => notice({ text: words.uploadRemoved(file) }),
                      onError: onFailed,
                    },
                  )
                }
              >
                {words.removeUpload}
              </Button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
