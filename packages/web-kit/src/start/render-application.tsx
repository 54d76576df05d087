import { type QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { type ReactNode, StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { applyTheme, rememberedTheme } from '../theme/index.ts'

/** Shows the application in the document's element `application`, in the remembered theme. */
export function renderApplication(queries: QueryClient, application: ReactNode): void {
  applyTheme(rememberedTheme())
  const element = document.getElementById('application')
  if (element === null) throw new Error('The document has no element with the id "application".')
  createRoot(element).render(
    <StrictMode>
      <QueryClientProvider client={queries}>{application}</QueryClientProvider>
    </StrictMode>,
  )
}
