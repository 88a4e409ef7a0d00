import type { ComponentProps } from "react";

type Look = "primary" | "quiet" | "danger" | "on-video";

export function Button({ look = "primary", className, ...rest }: ComponentProps<"button"> & { look?: Look }) {
  return <button type="button" className={`button button-${look} ${className ?? ""}`.trim()} {...rest} />;
}
