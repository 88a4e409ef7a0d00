import type { ReactNode } from "react";
import { Icon } from "../ui/icon.tsx";

/** A line of the overview; with a link of the class `row-link` in it, all of it leads there. */
export function AttentionItem({
  look,
  note,
  children,
}: {
  look: "bad" | "late" | "calm";
  note?: ReactNode;
  children: ReactNode;
}) {
  return (
    <li className={`attention-${look}`}>
      <Icon name={look === "calm" ? "explain" : "warning"} />
      <span>{children}</span>
      <span className="secondary">{note}</span>
    </li>
  );
}
