import { type ReactNode, useState } from 'react'
import { Secret } from '../form/secret.tsx'
import { OnceDialog } from './once-dialog.tsx'

/** Shows a secret that cannot be shown again. @param props `warning` describes the consequences of not copying it */
export function SecretOffer(props: {
  title: string
  text: string
  what: string
  warning: string
  onClose: () => void
  children: ReactNode
}) {
  const { title, text, what, warning, onClose, children } = props
  const [isCopied, setCopied] = useState(false)
  return (
    <OnceDialog title={title} isTaken={isCopied} warning={warning} leave="Close without copying" onClose={onClose}>
      {children}
      <Secret text={text} what={what} onCopied={() => setCopied(true)} />
    </OnceDialog>
  )
}
