/** Icons of our own on a grid of 16, drawn with one stroke of 1.5. They decorate: the text beside them has
 * the meaning. */
import type { ReactElement, SVGProps } from "react";

const shapes = {
  overview: "M2.5 13.5h11M4 11V8M8 11V3.5M12 11V6",
  start: "M3 8.5l3.2 3.2L13 4.5",
  users: "M8 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM3 13.5c.4-2.4 2.4-3.7 5-3.7s4.6 1.3 5 3.7",
  accounts: "M3 13.5v-11h6v11M9 6.5h4v7M2 13.5h12M5 5h2M5 7.5h2M5 10h2",
  segments: "M6 12.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM10 12.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9Z",
  alerts: "M4 11.5V7a4 4 0 0 1 8 0v4.5M2.5 11.5h11M6.8 13.8h2.4M8 3V1.8",
  tasks: "M2.5 4l1.2 1.2L6 3M2.5 8.5l1.2 1.2L6 7.5M2.5 13l1.2 1.2L6 12M8.5 4.5h5M8.5 9h5M8.5 13.5h5",
  results: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM5.3 8.2l1.9 1.9 3.5-4.2",
  retention: "M2.5 2.5h11M2.5 6h8M2.5 9.5h5M2.5 13h2.5",
  revenue:
    "M8 1.5v13M11.5 4.5c-.5-1.2-1.8-1.8-3.5-1.8-2 0-3.4 1-3.4 2.6 0 3.6 7.2 1.6 7.2 5.3 0 1.7-1.5 2.7-3.8 2.7-2 0-3.4-.8-3.9-2.2",
  events: "M1.5 8h3l2-5 3 10 2-5h3",
  sources:
    "M2.5 3.5h2.5a3 3 0 0 1 3 3v3a3 3 0 0 0 3 3h2.5M2.5 12.5h2.5a3 3 0 0 0 3-3M8 6.5a3 3 0 0 1 3-3h2.5",
  model: "M2.5 13.5c3 0 3.5-11 6-11s2 7 5 7",
  settings: "M2 5h6M12 5h2M2 11h2M8 11h6M10 3.3v3.4M6 9.3v3.4",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM10.3 10.3l3.2 3.2",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  close: "M4 4l8 8M12 4l-8 8",
  down: "M4.5 6.5L8 10l3.5-3.5",
  up: "M4.5 9.5L8 6l3.5 3.5",
  right: "M6.5 4.5L10 8l-3.5 3.5",
  left: "M9.5 4.5L6 8l3.5 3.5",
  calendar: "M2.5 3.5h11v10h-11zM2.5 6.5h11M5.5 2v3M10.5 2v3",
  check: "M3.5 8.5l3 3 6-7",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  download: "M8 2.5v7M5 7l3 3 3-3M3 13.5h10",
  sun: "M8 10.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM8 1.5v1.5M8 13v1.5M1.5 8H3M13 8h1.5M3.5 3.5l1 1M11.5 11.5l1 1M12.5 3.5l-1 1M4.5 11.5l-1 1",
  moon: "M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5Z",
  screen: "M2 3.5h12v7.5H2zM6 13.5h4",
  eye: "M1.5 8s2.5-4.5 6.5-4.5S14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8ZM8 9.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3Z",
  warning: "M8 2.5l6 11H2zM8 6.5v3.5M8 11.5v.5",
  info: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 7.3v4M8 4.8v.5",
  plus: "M8 3v10M3 8h10",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  pause: "M5 3v10M11 3v10",
  play: "M4.5 3l8 5-8 5z",
  retry: "M13 8a5 5 0 1 1-1.5-3.5M13 2v3h-3",
  columns: "M2.5 3h11v10h-11zM6.2 3v10M9.8 3v10",
  person: "M8 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM3 13.5c.4-2.4 2.4-3.7 5-3.7s4.6 1.3 5 3.7",
  leave: "M6.5 3h-4v10h4M6.5 8h7M11 5.5L13.5 8 11 10.5",
} as const;

export type IconName = keyof typeof shapes;

/** An icon, as large as the text around it unless a size is given, in pixels. */
export function Icon({
  name,
  size = 16,
  ...rest
}: { name: IconName; size?: number } & SVGProps<SVGSVGElement>): ReactElement {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={name === "more" ? 2 : 1.5}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      className="shrink-0"
      {...rest}
    >
      <path d={shapes[name]} />
    </svg>
  );
}
