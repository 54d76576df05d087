import { type ReactNode, useState } from 'react'
import { Button } from '../form/button.tsx'
import { Dialog } from './dialog.tsx'

/** A dialog for something that is shown only once. Until that is saved or copied, closing it needs a second click. */
export function OnceDialog(props: {
  title: string
  isTaken: boolean
  /** The button that saves it, unless `children` contain it. */
  take?: ReactNode
  /** Describes the consequences of losing it. */
  warning: string
  /** The text of the button that closes the dialog anyway. */
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
