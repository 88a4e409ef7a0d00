import { conversionRoutes } from "@intermission/operator-api/conversions";
import type { AnswerOf } from "@intermission/operator-api/route";
import { useState } from "react";
import { useMay } from "../session/use-session.ts";
import { Button } from "../ui/button.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { useFormats } from "../words/formats.ts";
import { useWords } from "../words/word-table.ts";
import { conversionWords } from "./words.ts";

type Conversion = AnswerOf<typeof conversionRoutes.listConversions>["conversions"][number];

/** Reverses a conversion, as of an order that was cancelled. There is no inverse, so it asks, and names the value. */
export function ReverseButton({ conversion }: { conversion: Conversion }) {
  const words = useWords(conversionWords);
  const { money } = useFormats();
  const may = useMay();
  const notice = useNotice();
  const reverse = useConfirmedChange(conversionRoutes.reverseConversion);
  const [isOpen, setOpen] = useState(false);
  const { clickId, event, conversionId, valueMicros, currency } = conversion;
  if (!may("reverseConversion")) return null;
  const name = event || words.unnamed;
  const onSubmit = () =>
    reverse.run({ body: { clickId, event, conversionId } }, () => {
      setOpen(false);
      notice({ text: words.reversedNow });
    });
  return (
    <>
      <Button look="quiet" aria-label={words.reverseOf({ event: name, id: clickId })} onClick={() => setOpen(true)}>
        {words.reverse}
      </Button>
      {isOpen && (
        <FormDialog
          title={words.reverseOf({ event: name, id: clickId })}
          submitText={words.reverse}
          isBusy={reverse.isPending}
          onSubmit={onSubmit}
          onClose={() => setOpen(false)}
        >
          {valueMicros !== null && <p>{words.takenBack(money(valueMicros, currency))}</p>}
          <p>{words.reverseText}</p>
        </FormDialog>
      )}
    </>
  );
}
