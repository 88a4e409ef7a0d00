const paths = {
  overview: "M4 12l8-7 8 7M6 10v10h12V10",
  campaign: "M4 10v4h3l8 4V6l-8 4zM18 10v4M8 14l1 5h2",
  bell: "M6 16v-5a6 6 0 0 1 12 0v5l2 2H4zM10 21h4",
  bot: "M5 9h14v9H5zM12 9V6M9 13v1M15 13v1",
  explain: "M9 9a3 3 0 1 1 4 3c-1 0-1 1-1 2M12 17v.1M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16z",
  timeline: "M6 5v14M6 6h.1M6 12h.1M6 18h.1M10 6h9M10 12h6M10 18h8",
  conversion: "M4 12h11M11 8l4 4-4 4M20 5v14",
  task: "M4 5h12v14H4zM7 12l2 2 4-5M19 9v10",
  creative: "M4 6h16v12H4zM10 9v6l5-3z",
  review: "M12 4l7 3v5c0 4-3 7-7 8-4-1-7-4-7-8V7zM9 12l2 2 4-4",
  report: "M4 20h16M7 17v-5M12 17V6M17 17v-7",
  advertiser: "M4 20V9l1-5h14l1 5v11zM4 9h16M10 20v-6h4v6",
  buyer: "M4 6h3l2 9h9l2-6H8",
  publisher: "M4 8h14v11H4zM4 8l11-4v4M20 12h-4a2 2 0 0 0 0 4h4z",
  payout: "M4 12v8h16v-8M12 15V4M8 8l4-4 4 4",
  people: "M9 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM3 19a6 6 0 0 1 12 0M16 5a3 3 0 0 1 0 6M18 14a6 6 0 0 1 3 5",
  audit: "M6 4h9l4 4v12H6zM9 11h6M9 15h6",
  system: "M4 5h16v6H4zM4 13h16v6H4zM8 8v.1M8 16v.1",
  search: "M10 4a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM15 15l5 5",
  menu: "M4 7h16M4 12h16M4 17h16",
  close: "M6 6l12 12M18 6L6 18",
  check: "M5 12l5 5 9-10",
  warning: "M12 4l9 16H3zM12 10v5M12 17v.1",
  down: "M5 9l7 7 7-7",
  next: "M9 5l7 7-7 7",
  person: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 20a8 8 0 0 1 16 0",
  edit: "M5 19h4L19 9l-4-4L5 15zM13 7l4 4",
  pause: "M8 5v14M16 5v14",
  play: "M8 5v14l11-7z",
  copy: "M8 8h12v12H8zM16 4H4v12",
  archive: "M4 5h16v4H4zM6 9v11h12V9M10 13h4",
  columns: "M4 5h16v14H4zM9 5v14M15 5v14",
  add: "M12 5v14M5 12h14",
  mail: "M4 6h16v12H4zM4 7l8 6 8-6",
} as const;

export type IconName = keyof typeof paths;

/** A decorative picture beside a text, hidden from screen readers. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
