import { type ReactNode, useState } from 'react'
import { Button } from '../form/button.tsx'
import { Dialog } from './dialog.tsx'

/** A dialog about something that is shown once. Before it was taken, the dialog closes only after it said what is lost. */
export function OnceDialog(props: {
  title: string
  isTaken: boolean
  /** The button that takes it, where it stands with those below. */
  take?: ReactNode
  /** What is lost. */
  warning: string
  /** What the button says that closes the dialog all the same. */
  leave: string
  onClose: () => void
  children: ReactNode
}) {
  const { title, isTaken, take, warning, leave, onClose, children } = props
  const [isWarned, setWarned] = useState(false)
  const warn = (): void => setWarned(true)
  return (
    <Dialog title={title} onClose={isTaken ? onClose : warn}>
      {children}
      {isWarned && !isTaken && (
        <p className="notice" role="alert">
          {warning}
        </p>
      )}
      <div className="form-actions">
        {isTaken ? (
          <Button kind="main" onClick={onClose}>
            Done
          </Button>
        ) : (
          take
        )}
        {!isTaken && (
          <Button kind={isWarned ? 'danger' : 'plain'} onClick={isWarned ? onClose : warn}>
            {isWarned ? leave : 'Close'}
          </Button>
        )}
      </div>
    </Dialog>
  )
}
