import { type CampaignCreative, campaignRoutes, creativeSettings } from "@intermission/operator-api/campaigns";
import { typedValuesOf } from "../forms/form-definition.ts";
import type { FormWords } from "../forms/form-words.ts";
import { RequestDialog } from "../forms/request-dialog.tsx";
import { useMay } from "../session/use-session.ts";
import { useNotice } from "../ui/notices.tsx";
import { useConfirmedChange } from "../ui/use-confirmed-change.tsx";
import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";
import { useWords } from "../words/word-table.ts";
import { type VideoField, videoForm } from "./video-form.ts";

const words = loadWords("campaignVideo") satisfies Record<Language, FormWords<VideoField>>;

interface VideoDialogProps {
  campaignId: string;
  creative: CampaignCreative;
  name: string;
  onClose: () => void;
}

/** How often a campaign shows one of its videos, and with which texts. */
export function VideoDialog({ campaignId, creative, name, onClose }: VideoDialogProps) {
  const { title, save, saved, labels, hints } = useWords(words);
  const may = useMay();
  const notice = useNotice();
  const change = useConfirmedChange(campaignRoutes.attachCreative);
  const params = { campaignId, creativeId: creative.creativeId };
  return (
    <RequestDialog
      title={title(name)}
      submitText={save}
      definition={videoForm}
      initial={typedValuesOf(videoForm, creative)}
      schema={creativeSettings}
      // Texts that nobody reviews are the operator's.
      isShown={(field) => field === "weight" || may("updateCampaign")}
      wordsOf={() => ({ labels, hints })}
      request={change}
      onBody={(body) =>
        change.run({ params, body }, () => {
          onClose();
          notice({ text: saved(name) });
        })
      }
      onClose={onClose}
    />
  );
}
