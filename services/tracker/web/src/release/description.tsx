import { lazy, Suspense } from 'react'

/** The parser is large, and most torrents have no description. */
const Markdown = lazy(async () => ({ default: (await import('./markdown.tsx')).Markdown }))

/** A description in Markdown, as plain text until the parser has loaded. */
export function Description({ text }: { text: string }) {
  if (text === '') return <p className="muted">No description.</p>
  return (
    <Suspense
      fallback={
        <p className="description" dir="auto">
          {text}
        </p>
      }
    >
      <Markdown text={text} />
    </Suspense>
  )
}
