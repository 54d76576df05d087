import { useEffect } from 'react'

/** What the document is called as it was served. */
let application: string | undefined

/** What the application is called: the title of the document, as it was served. */
export function applicationName(): string {
  return (application ??= document.title)
}

/** Names the page in the browser's tab and history. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · ${applicationName()}`
  }, [title])
}
