import { useTranslator } from "../locales/use-translator.tsx";
import type { Host } from "../telegram/host.ts";
import { Button } from "../ui/button.tsx";
import { Notice } from "../ui/notice.tsx";

/** This client's web view cannot play the ad's kind of video. */
export function OldClient({ host }: { host: Host }) {
  const { text } = useTranslator();
  return (
    <Notice
      state="old-client"
      icon="update"
      title={text("old-client.title")}
      action={<Button onClick={host.close}>{text("action.close")}</Button>}
    >
      <p className="secondary">{text("old-client.text")}</p>
    </Notice>
  );
}
