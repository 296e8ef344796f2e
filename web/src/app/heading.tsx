import { type ReactNode, useEffect } from 'react'

/** The head of a page: its one h1, what it is about, and what can be done. */
export function PageHead({ title, about, children }: { title: string; about?: ReactNode; children?: ReactNode }) {
  useTitle(title)
  return (
    <header className="head">
      <h1>{title}</h1>
      {about ? <span className="cap">{about}</span> : null}
      <span className="grow" />
      {children}
    </header>
  )
}

/** What is below the head: it scrolls, and the keys reach it even where nothing in it can be focused. */
export function PageBody({ label, id, children }: { label: string; id?: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys scroll only what has the focus
    <section className="page" tabIndex={0} aria-label={label} id={id}>
      {children}
    </section>
  )
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Penstock`
  }, [title])
}
