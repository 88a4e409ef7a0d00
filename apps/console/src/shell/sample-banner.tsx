import { sampleRoutes } from "@intermission/operator-api/sample";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { answerOf } from "../operator/use-operator.ts";
import { useMay } from "../session/use-session.ts";
import { Button } from "../ui/button.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useWords } from "../words/word-table.ts";
import { shellWords } from "./words.ts";

/** Its figures change while it is added or removed. */
const CHANGING_MS = 2000;

/** Above every screen while there is sample traffic: what is shown is not all real. */
export function SampleBanner() {
  const words = useWords(shellWords);
  const may = useMay();
  const [isRemoving, setRemoving] = useState(false);
  const { data } = useQuery({
    ...answerOf(sampleRoutes.showSample),
    enabled: may("showSample"),
    refetchInterval: ({ state }) => {
      const sample = state.data?.sample ?? null;
      return sample !== null && sample.state !== "added" ? CHANGING_MS : false;
    },
  });
  const sample = data?.sample ?? null;
  if (sample === null) return null;
  return (
    <aside className="sample" aria-label={words.sample}>
      <p>
        <strong className="pill pill-late">{words.sample}</strong> {words.sampleStates[sample.state]}
      </p>
      {may("removeSample") && (
        <Button look="quiet" onClick={() => setRemoving(true)}>
          {words.removeSample}
        </Button>
      )}
      {isRemoving && <RemoveDialog onClose={() => setRemoving(false)} />}
    </aside>
  );
}

function RemoveDialog({ onClose }: { onClose: () => void }) {
  const words = useWords(shellWords);
  const notice = useNotice();
  const removal = useConfirmedChange(sampleRoutes.removeSample);
  const remove = () =>
    void removal.run({}, () => {
      onClose();
      notice({ text: words.sampleRemoved });
    });
  return (
    <FormDialog
      title={words.removeSample}
      submitText={words.removeIt}
      isBusy={removal.isPending}
      onSubmit={remove}
      onClose={onClose}
    >
      <p>{words.removedWithSample}</p>
      <p className="secondary">{words.sampleCommands}</p>
    </FormDialog>
  );
}
