import type { Host } from "../telegram/host.ts";
import { Icon } from "./icon.tsx";
import { useStrayClick } from "./use-stray-click.ts";

/** Leads away from the app without closing it. */
export function LinkOutside({ url, label, host }: { url: string; label: string; host: Host }) {
  const isStray = useStrayClick();
  return (
    <a
      className="button button-outside"
      href={url}
      target="_blank"
      rel="noopener noreferrer"
      onClick={(event) => {
        if (isStray(event) || host.openLink(url)) event.preventDefault();
      }}
    >
      <bdi>{label}</bdi> <Icon name="outside" />
    </a>
  );
}
