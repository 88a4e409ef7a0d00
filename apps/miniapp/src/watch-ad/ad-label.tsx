import { useTranslator } from "../locales/use-translator.tsx";
import { Button } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";

/** Marks the ad as one, and opens what there is to know about it. */
export function AdLabel({ onAbout }: { onAbout: () => void }) {
  const { text } = useTranslator();
  return (
    <Button className="badge" aria-haspopup="dialog" onClick={onAbout}>
      {text("adLabel")}
      <Icon name="info" />
    </Button>
  );
}
