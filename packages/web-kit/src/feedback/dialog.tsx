import { type ReactNode, useId, useLayoutEffect, useRef } from 'react'
import { Button } from '../form/button.tsx'

/** A modal dialog. The browser keeps the focus inside, gives it back, and closes on Escape. `data-focus` is focused first. */
export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ReactNode }) {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  // Closed while it is still in the document: afterwards the browser gives the focus to nobody.
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
      // When Escape is pressed again and again, Chromium closes a dialog without asking. The page decides, so it is shown again.
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

/** Asks before something that cannot be undone; `children` say what will happen. */
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
