import { campaignRoutes } from "@intermission/operator-api/campaigns";
import { useNotice } from "./notices.tsx";
import { useConfirmedChange } from "./use-confirmed-change.tsx";

/** A campaign and a creative, and the name that notices use: of the one that is chosen on the screen of the other. */
export interface Attachment {
  readonly campaignId: string;
  readonly creativeId: string;
  readonly name: string;
}

interface Words {
  attached(name: string): string;
  detached(name: string): string;
}

/** Adds a creative to a campaign and removes it: each is the Undo of the other, and keeps weight and texts. */
export function useAttachments(words: Words) {
  const notice = useNotice();
  const attaching = useConfirmedChange(campaignRoutes.attachCreative);
  const detaching = useConfirmedChange(campaignRoutes.detachCreative);
  const attach = ({ name, ...params }: Attachment) =>
    void attaching.run({ params, body: {} }, () =>
      notice({ text: words.attached(name), onUndo: () => detach({ ...params, name }) }),
    );
  const detach = ({ name, ...params }: Attachment) =>
    void detaching.run({ params }, () =>
      notice({ text: words.detached(name), onUndo: () => attach({ ...params, name }) }),
    );
  return { attach, detach, isPending: attaching.isPending || detaching.isPending };
}
