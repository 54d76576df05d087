import { type QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { type ReactNode, StrictMode } from 'react'
import { createRoot } from 'react-dom/client'

/** Shows the application in the document's element `application`. */
export function renderApplication(queries: QueryClient, application: ReactNode): void {
  const element = document.getElementById('application')
  if (element === null) throw new Error('The document has no element with the id "application".')
  createRoot(element).render(
    <StrictMode>
      <QueryClientProvider client={queries}>{application}</QueryClientProvider>
    </StrictMode>,
  )
}
