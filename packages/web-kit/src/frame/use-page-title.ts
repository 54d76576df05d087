import { useEffect } from 'react'

let application: string | undefined

/** The name of the application: the title of the document as it was served. */
export function applicationName(): string {
  return (application ??= document.title)
}

export function usePageTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · ${applicationName()}`
  }, [title])
}
