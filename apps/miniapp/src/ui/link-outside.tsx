import type { Host } from "../telegram/host.ts";
import { useStrayClick } from "./hooks.ts";
import { Icon } from "./icon.tsx";

interface LinkOutsideProps {
  url: string;
  label: string;
  look?: "outside" | "primary" | "secondary";
  host: Host;
  onOpened?: (() => void) | undefined;
}

/** A link that opens outside the app without closing it. */
export function LinkOutside({ url, label, look = "outside", host, onOpened }: LinkOutsideProps) {
  const isStray = useStrayClick();
  return (
    <a
      className={`button button-${look}`}
      href={url}
      target="_blank"
      rel="noopener noreferrer"
      onClick={(event) => {
        const isIgnored = isStray(event);
        if (isIgnored || host.openLink(url)) event.preventDefault();
        if (!isIgnored) onOpened?.();
      }}
    >
      <bdi>{label}</bdi> <Icon name="outside" />
    </a>
  );
}
