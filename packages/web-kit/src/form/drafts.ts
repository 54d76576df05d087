import { createContext } from 'react'

/** A form whose text would be lost if it disappeared. */
export type Draft = {
  readonly isDirty: () => boolean
  /** Whether it has text that its page did not have, even if that is being sent. */
  readonly hasText: () => boolean
}

/** The forms of a dialog, which asks them before it closes. */
export const Drafts = createContext<Set<Draft> | undefined>(undefined)

/** All forms of the page. */
export const pageDrafts = new Set<Draft>()

/** Whether text would be lost if the page disappeared, for example because its session ended while a form was sent. */
export function hasTypedText(): boolean {
  return Array.from(pageDrafts).some((draft) => draft.hasText())
}
