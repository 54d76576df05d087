import type { ReactNode } from 'react'
import { Brand } from './brand.tsx'
import { usePageTitle } from './use-page-title.ts'

/** A page without a bar, for people who are not signed in. */
export function Gate({ title, children }: { title: string; children: ReactNode }) {
  usePageTitle(title)
  return (
    <div className="gate">
      <p className="brand">
        <Brand />
      </p>
      <h1>{title}</h1>
      {children}
    </div>
  )
}
