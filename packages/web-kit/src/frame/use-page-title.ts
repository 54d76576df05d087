import { useEffect } from 'react'

/** What the document is called as it was served. */
let application: string | undefined

/** Names the page in the browser's tab and history. */
export function usePageTitle(title: string): void {
  useEffect(() => {
    application ??= document.title
    document.title = `${title} · ${application}`
  }, [title])
}
