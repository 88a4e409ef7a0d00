import { sampleRoutes } from "@intermission/operator-api/sample";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { answerOf } from "../operator/use-operator.ts";
import { useMay } from "../session/use-session.ts";
import { Button } from "../ui/button.tsx";
import { useWords } from "../words/word-table.ts";
import { shellWords } from "./words.ts";

const RemoveSampleDialog = lazy(async () => ({
  default: (await import("./remove-sample-dialog.tsx")).RemoveSampleDialog,
}));

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
      <Suspense>{isRemoving && <RemoveSampleDialog onClose={() => setRemoving(false)} />}</Suspense>
    </aside>
  );
}
