import { useTranslator } from "../locales/use-translator.tsx";
import { Button } from "../ui/button.tsx";
import { lazily } from "../ui/lazily.tsx";

/** Marks the ad as one, and opens what there is to know about it. */
export function AdLabel({ onAbout }: { onAbout: () => void }) {
  const { text } = useTranslator();
  return (
    <Button className="ad-badge" aria-haspopup="dialog" onClick={onAbout}>
      {text("adLabel")}
    </Button>
  );
}

const Nothing = () => null;

/** Few users open it. Until it is loaded, "Play" and Telegram's back button continue the ad. */
export const AboutAd = lazily(
  () => import("../about-ad/about-sheet.tsx"),
  ({ AboutSheet }) => AboutSheet,
  Nothing,
);
