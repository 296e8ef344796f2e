/** The pictures of the design, 16 by 16, drawn with the colour of the text around them. */
import type { ReactNode, SVGProps } from 'react'

const SHAPES = {
  search: <><circle cx="7" cy="7" r="4.25"/><path d="M10.25 10.25L13.75 13.75"/></>,
  waiting: <><path d="M4.5 2.25h7M4.5 13.75h7M5.25 2.5c0 3 2.75 3.75 2.75 5.5s-2.75 2.5-2.75 5.5M10.75 2.5c0 3-2.75 3.75-2.75 5.5s2.75 2.5 2.75 5.5"/></>,
  done: <><circle cx="8" cy="8" r="6.25" fill="currentColor" stroke="none"/><path d="M5.2 8.2l2 2 3.7-4.2" stroke="var(--surface)" strokeWidth="1.7"/></>,
  cross: <><path d="M4 4l8 8M12 4l-8 8"/></>,
  check: <><path d="M3.5 8.5l3 3 6-7"/></>,
  home: <><path d="M2.5 7.5L8 2.75l5.5 4.75v5.75h-4v-3.5h-3v3.5h-4z"/></>,
  runs: <><path d="M2.5 4h11M2.5 8h7.5M2.5 12h9"/></>,
  inbox: <><path d="M2.25 9.5l2-6h7.5l2 6v3.75H2.25z"/><path d="M2.25 9.5h3.25a2.5 2.5 0 0 0 5 0h3.25"/></>,
  incident: <><path d="M8 2L14.25 13.25H1.75z"/><path d="M8 6.5v3"/></>,
  running: <><path d="M8 2.25A5.75 5.75 0 1 1 2.25 8"/><path d="M6.6 5.6v4.8L10.6 8z" fill="currentColor" stroke="none"/></>,
  paused: <><rect x="2.5" y="2.5" width="11" height="11" rx="2"/><path d="M6.5 6v4M9.5 6v4"/></>,
  canceled: <><circle cx="8" cy="8" r="5.75"/><path d="M4 12L12 4"/></>,
  blocked: <><circle cx="8" cy="8" r="5.75" strokeDasharray="2.4 2.1"/></>,
  failed: <><path d="M5.3 1.7h5.4l3.6 3.6v5.4l-3.6 3.6H5.3L1.7 10.7V5.3z" fill="currentColor" stroke="none"/><path d="M5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4" stroke="var(--surface)" strokeWidth="1.7"/></>,
  disabled: <><rect x="2.5" y="2.5" width="11" height="11" rx="2" strokeDasharray="2 2"/><path d="M5 8h6"/></>,
  seal: <><path d="M8 1.2l1.7 1.1 2-.1.8 1.9 1.7 1.1-.5 2 .5 2-1.7 1.1-.8 1.9-2-.1L8 13.2l-1.7-1.1-2 .1-.8-1.9L1.8 9.2l.5-2-.5-2 1.7-1.1.8-1.9 2 .1z" transform="translate(0 .8)"/><path d="M5.5 8.1l1.8 1.8 3.3-3.7"/></>,
  sealbad: <><path d="M8 1.2l1.7 1.1 2-.1.8 1.9 1.7 1.1-.5 2 .5 2-1.7 1.1-.8 1.9-2-.1L8 13.2l-1.7-1.1-2 .1-.8-1.9L1.8 9.2l.5-2-.5-2 1.7-1.1.8-1.9 2 .1z" transform="translate(0 .8)"/><path d="M8 5.2v3.3"/><circle cx="8" cy="10.7" r=".8" fill="currentColor" stroke="none"/></>,
  note: <><circle cx="8" cy="8" r="5.75"/><path d="M8 7.3v3.5"/><circle cx="8" cy="5.1" r=".7" fill="currentColor" stroke="none"/></>,
  copy: <><rect x="5.5" y="5.5" width="8" height="8" rx="1.2"/><path d="M3.5 10.5h-1v-8h8v1"/></>,
  ready: <><circle cx="8" cy="8" r="5.75"/><circle cx="8" cy="8" r="2" fill="currentColor" stroke="none"/></>,
  send: <><path d="M13.75 2.5L2.5 6.75l4.5 2.25 2.25 4.5z"/><path d="M7 9l3-3"/></>,
  outside: <><path d="M2.25 8h7.5M6.75 4.75L10 8l-3.25 3.25M13 2.75v10.5"/></>,
  clock: <><circle cx="8" cy="8" r="5.75"/><path d="M8 4.75V8l2.25 1.5"/></>,
  person: <><circle cx="8" cy="5.25" r="2.5"/><path d="M3 13.5c.5-3 2.5-4.25 5-4.25s4.5 1.25 5 4.25"/></>,
  flow: <><rect x="1.75" y="3" width="4.5" height="4" rx="1"/><rect x="9.75" y="9" width="4.5" height="4" rx="1"/><path d="M6.25 5H8.5a1.5 1.5 0 0 1 1.5 1.5"/><path d="M10 6.5V9"/></>,
  petri: <><circle cx="3.75" cy="8" r="2"/><path d="M8 4v8" strokeWidth="2"/><circle cx="12.25" cy="8" r="2"/><path d="M5.75 8h2M8.25 8h2"/></>,
  text: <><path d="M5.5 4.5L2 8l3.5 3.5M10.5 4.5L14 8l-3.5 3.5"/></>,
  undo: <><path d="M5.5 3.25L2.75 6l2.75 2.75"/><path d="M2.75 6H9.5a3.5 3.5 0 0 1 0 7H7"/></>,
  redo: <><path d="M10.5 3.25L13.25 6l-2.75 2.75"/><path d="M13.25 6H6.5a3.5 3.5 0 0 0 0 7H9"/></>,
  more: <><circle cx="3.5" cy="8" r="1" fill="currentColor" stroke="none"/><circle cx="8" cy="8" r="1" fill="currentColor" stroke="none"/><circle cx="12.5" cy="8" r="1" fill="currentColor" stroke="none"/></>,
  task: <><path d="M2.5 3.5h11M2.5 6.75h6M2.5 10h8.5M2.5 13.25h4"/></>,
  film: <><rect x="2" y="3" width="12" height="10" rx="1.2"/><path d="M5 3v10M11 3v10M2 8h3M11 8h3"/></>,
  picture: <><rect x="2" y="3" width="12" height="10" rx="1.2"/><path d="M2.5 11.5l3.5-4 3 3 2-2 2.5 2.5"/><circle cx="10.5" cy="6" r="1"/></>,
  face: <><circle cx="8" cy="8" r="5.75"/><path d="M5.75 9.75c1.2 1.5 3.3 1.5 4.5 0"/><circle cx="6" cy="6.5" r=".6" fill="currentColor" stroke="none"/><circle cx="10" cy="6.5" r=".6" fill="currentColor" stroke="none"/></>,
  decide: <><path d="M8 2L14 8l-6 6-6-6z"/></>,
  branch: <><path d="M2.5 8h3l5-4.5h3M5.5 8h8M5.5 8l5 4.5h3"/></>,
  tag: <><path d="M2.5 2.5h5.5l5.5 5.5-5.5 5.5L2.5 8z"/><circle cx="5.5" cy="5.5" r=".8" fill="currentColor" stroke="none"/></>,
  store: <><ellipse cx="8" cy="4" rx="5.25" ry="2"/><path d="M2.75 4v8c0 1.1 2.35 2 5.25 2s5.25-.9 5.25-2V4"/><path d="M2.75 8c0 1.1 2.35 2 5.25 2s5.25-.9 5.25-2"/></>,
  web: <><circle cx="8" cy="8" r="5.75"/><path d="M2.25 8h11.5M8 2.25c3.5 3.5 3.5 8 0 11.5M8 2.25c-3.5 3.5-3.5 8 0 11.5"/></>,
  mail: <><rect x="2" y="3.5" width="12" height="9" rx="1.2"/><path d="M2.5 4.5L8 8.75l5.5-4.25"/></>,
  stop: <><rect x="4" y="4" width="8" height="8" rx="1"/></>,
  sticky: <><path d="M2.5 2.5h11v7l-4 4h-7z"/><path d="M13.5 9.5h-4v4"/></>,
  minus: <><path d="M3.25 8h9.5"/></>,
  fit: <><path d="M2.5 5.5v-3h3M13.5 5.5v-3h-3M2.5 10.5v3h3M13.5 10.5v3h-3"/></>,
  tidy: <><rect x="2" y="2.5" width="4" height="3.5" rx=".8"/><rect x="10" y="2.5" width="4" height="3.5" rx=".8"/><rect x="6" y="10" width="4" height="3.5" rx=".8"/><path d="M4 6v2h8V6M8 8v2"/></>,
  plus: <><path d="M8 3.25v9.5M3.25 8h9.5"/></>,
  down: <><path d="M4.5 6.25L8 9.75l3.5-3.5"/></>,
  right: <><path d="M6.25 4.5L9.75 8l-3.5 3.5"/></>,
  left: <><path d="M9.75 4.5L6.25 8l3.5 3.5"/></>,
  error: <><path d="M5.3 1.7h5.4l3.6 3.6v5.4l-3.6 3.6H5.3L1.7 10.7V5.3z" fill="currentColor" stroke="none"/><path d="M8 4.6v4" stroke="var(--surface)" strokeWidth="1.7"/><circle cx="8" cy="11.2" r=".95" fill="var(--surface)" stroke="none"/></>,
  warning: <><path d="M8 2L14.25 13.25H1.75z"/><path d="M8 6.5v3"/><circle cx="8" cy="11.3" r=".6" fill="currentColor" stroke="none"/></>,
  pin: <><path d="M6 2.5h4l-.5 4 2 2h-7l2-2zM8 8.5v5"/></>,
  play: <><path d="M4.75 3v10l8-5z" fill="currentColor"/></>,
  tostart: <><path d="M12.5 3.5v9L8 8z" fill="currentColor"/><path d="M8 3.5v9L3.5 8z" fill="currentColor"/></>,
  back: <><path d="M12 3.5v9L5.5 8z" fill="currentColor"/><path d="M3.75 3.5v9"/></>,
  forward: <><path d="M4 3.5v9L10.5 8z" fill="currentColor"/><path d="M12.25 3.5v9"/></>,
  pause: <><path d="M5.5 3.5v9M10.5 3.5v9" strokeWidth="2.25"/></>,
  queue: <><rect x="2" y="3" width="12" height="3.5" rx="1"/><rect x="2" y="9.5" width="12" height="3.5" rx="1"/></>,
  paper: <><path d="M4 1.9h5.5l3 3v9.2H4z"/><path d="M6.3 8h4M6.3 10.8h4"/></>,
  token: <><circle cx="8" cy="8" r="5.75"/><circle cx="8" cy="8" r="2.25" fill="currentColor" stroke="none"/></>,
  again: <><path d="M13 8a5 5 0 1 1-1.5-3.55"/><path d="M13.25 2v3h-3"/></>,
  link: <><path d="M6.5 9.5l3-3M7 4.5l1.5-1.5a2.5 2.5 0 0 1 3.5 3.5L10.5 8M9 11.5L7.5 13A2.5 2.5 0 0 1 4 9.5L5.5 8"/></>,
  download: <><path d="M8 2.5v8M4.75 7.5L8 10.75l3.25-3.25M3 13.5h10"/></>,
  upload: <><path d="M8 10.75v-8M4.75 6L8 2.75 11.25 6M3 13.5h10"/></>,
  box: <><path d="M8 1.9l5.5 3v6.2L8 14.1l-5.5-3V4.9z"/><path d="M2.5 4.9L8 8l5.5-3.1M8 8v6.1"/></>,
  calendar: <><rect x="2.25" y="3.25" width="11.5" height="10.5" rx="1.5"/><path d="M2.25 6.5h11.5M5.5 1.75v3M10.5 1.75v3"/></>,
  grid: <><rect x="2.5" y="2.5" width="11" height="11" rx="1"/><path d="M2.5 6.2h11M2.5 9.8h11M6.2 2.5v11M9.8 2.5v11"/></>,
  gear: <><circle cx="8" cy="8" r="2.25"/><path d="M8 1.75v2M8 12.25v2M1.75 8h2M12.25 8h2M3.6 3.6L5 5M11 11l1.4 1.4M12.4 3.6L11 5M5 11l-1.4 1.4"/></>,
  sun: <><circle cx="8" cy="8" r="3"/><path d="M8 1.5v1.75M8 12.75v1.75M1.5 8h1.75M12.75 8h1.75M3.4 3.4l1.2 1.2M11.4 11.4l1.2 1.2M12.6 3.4l-1.2 1.2M4.6 11.4l-1.2 1.2"/></>,
  moon: <><path d="M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5z"/></>,
  trash: <><path d="M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.6 9h5.8l.6-9"/></>,
  edit: <><path d="M3 13l.6-2.8 7.2-7.2 2.2 2.2-7.2 7.2z"/></>,
  func: <><path d="M10.5 3c-2 0-2 1.500-2.300 3L7.300 11c-.3 1.500-.6 2.500-2.300 2.500M5.500 7h5"/></>,
} satisfies Record<string, ReactNode>

export type IconName = keyof typeof SHAPES

export interface IconProps extends SVGProps<SVGSVGElement> {
  name: IconName
  size?: 'xs' | 's' | 'm'
}

/** A picture without a name of its own: what it says must also be said in words beside it. */
export function Icon({ name, size = 'm', className = '', ...rest }: IconProps) {
  return (
    <svg className={`i ${size === 'm' ? '' : size} ${className}`} viewBox="0 0 16 16" aria-hidden="true" focusable="false" {...rest}>
      {SHAPES[name]}
    </svg>
  )
}

export function Logo({ size = 20 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 20 20" fill="none" stroke="currentColor" strokeWidth="1.6" aria-hidden="true" focusable="false">
      <path d="M3.5 2v16M16.5 2v16M2 2.8h16" strokeLinecap="round" />
      <rect x="6" y="5.4" width="8" height="5.4" rx=".6" fill="currentColor" stroke="none" />
      <circle cx="10" cy="15" r="2.1" fill="var(--accent)" stroke="none" />
    </svg>
  )
}
