import { createContext } from 'react'

/** A form whose text would be lost if it disappeared. */
export type Draft = { readonly isDirty: () => boolean }

/** The forms of a dialog, which asks them before it closes. */
export const Drafts = createContext<Set<Draft> | undefined>(undefined)
