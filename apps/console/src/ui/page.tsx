import { type ReactNode, useEffect } from "react";

interface PageProps {
  title: string;
  /** Beside the title: what the page's numbers are as of, and its actions. */
  aside?: ReactNode;
  children: ReactNode;
}

/** A screen: its heading, which also names the window, and its content. */
export function Page({ title, aside, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Intermission`;
  }, [title]);
  return (
    <>
      <header className="page-head">
        <h1 tabIndex={-1}>{title}</h1>
        <div className="page-aside">{aside}</div>
      </header>
      {children}
    </>
  );
}
