import { Command } from "cmdk";
import { createContext, type ReactNode, useContext } from "react";

/** Closes the finder. */
export const FinderContext = createContext<() => void>(() => {});

interface FinderItemProps {
  /** What identifies the item; it is searched, too. */
  id: string;
  /** What else it is found by. */
  keywords?: readonly (string | null)[];
  onOpen: () => unknown;
  children: ReactNode;
}

/** A line of the finder: choosing it closes the finder first. */
export function FinderItem({ id, keywords = [], onOpen, children }: FinderItemProps) {
  const close = useContext(FinderContext);
  return (
    <Command.Item
      value={id}
      keywords={keywords.filter((word) => word !== null)}
      onSelect={() => {
        close();
        void onOpen();
      }}
    >
      {children}
    </Command.Item>
  );
}

/** An object by its name, with what tells it from others of the name. */
export function Named({ name, id }: { name: string; id: string }) {
  return (
    <>
      <span>{name}</span> <small>{id}</small>
    </>
  );
}
