import { type ReactNode, useId, useLayoutEffect, useRef } from 'react'
import { Button } from '../form/button.tsx'

/** A modal dialog. The browser traps and returns the focus and closes it on Escape. `data-focus` gets the focus first. */
export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ReactNode }) {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  // Closed while it is still in the document. Afterwards the browser would not return the focus.
  useLayoutEffect(() => {
    const dialog = element.current
    if (dialog) show(dialog)
    return () => dialog?.close()
  }, [])
  return (
    <dialog
      ref={element}
      className="dialog"
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      // If Escape is pressed repeatedly, Chromium closes a dialog without asking. The page decides, so it is shown again.
      onClose={({ currentTarget }) => {
        if (!currentTarget.isConnected || currentTarget.open) return
        show(currentTarget)
        onClose()
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  )
}

function show(dialog: HTMLDialogElement): void {
  dialog.showModal()
  dialog.querySelector<HTMLElement>('[data-focus]')?.focus()
}

/** A confirmation. `children` describe the consequences. */
export function Confirm(props: {
  title: string
  action: string
  isBusy: boolean
  onConfirm: () => void
  onCancel: () => void
  children: ReactNode
}) {
  return (
    <Dialog title={props.title} onClose={props.onCancel}>
      {props.children}
      <div className="form-actions">
        <Button kind="danger" isBusy={props.isBusy} onClick={props.onConfirm}>
          {props.action}
        </Button>
        <Button onClick={props.onCancel}>Cancel</Button>
      </div>
    </Dialog>
  )
}
