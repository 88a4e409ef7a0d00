import type { Creative } from "@intermission/operator-api/creatives";
import { Icon } from "../ui/icon.tsx";

/** The picture of a creative in a list; its name stands beside it. */
export function Poster({ creative: { posterFileName } }: { creative: Pick<Creative, "posterFileName"> }) {
  return (
    <span className="poster">
      {posterFileName === null ? (
        <Icon name="creative" />
      ) : (
        <img src={mediaAddress(posterFileName)} alt="" loading="lazy" />
      )}
    </span>
  );
}

/** Where this service serves a stored file. */
export function mediaAddress(fileName: string): string {
  return `/media/${fileName}`;
}
