import type { Host } from "../telegram/host.ts";
import { useStrayClick } from "./hooks.ts";
import { Icon } from "./icon.tsx";

interface LinkOutsideProps {
  url: string;
  label: string;
  /** What `url` leads to, if Telegram can open it; it is then opened without `url`. */
  telegramLink?: string | undefined;
  look?: "outside" | "primary" | "secondary";
  host: Host;
  onOpened?: ((isInTelegram: boolean) => void) | undefined;
}

/** A link that opens outside the app without closing it. */
export function LinkOutside({ url, label, telegramLink, look = "outside", host, onOpened }: LinkOutsideProps) {
  const isStray = useStrayClick();
  return (
    <a
      className={`button button-${look}`}
      href={url}
      target="_blank"
      rel="noopener noreferrer"
      onClick={(event) => {
        const isIgnored = isStray(event);
        const isInTelegram = !isIgnored && telegramLink !== undefined && host.openTelegramLink(telegramLink);
        if (isIgnored || isInTelegram || host.openLink(url)) event.preventDefault();
        if (!isIgnored) onOpened?.(isInTelegram);
      }}
    >
      <bdi>{label}</bdi> <Icon name="outside" />
    </a>
  );
}
