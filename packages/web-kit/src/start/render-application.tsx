import { type ReactNode, StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { applyTheme, rememberedTheme } from '../theme/index.ts'

/** Shows the application in the document's element `application`, in the theme that the reader chose. */
export function renderApplication(application: ReactNode): void {
  applyTheme(rememberedTheme())
  // A page that was open while the server was updated asks for files that are gone; the new page knows the new ones.
  addEventListener('vite:preloadError', (event) => {
    event.preventDefault()
    location.reload()
  })
  const element = document.getElementById('application')
  if (element === null) throw new Error('the page has no place for the application')
  createRoot(element).render(<StrictMode>{application}</StrictMode>)
}
