import { type ReactNode, useId, useLayoutEffect, useRef, useState } from 'react'
import { Button } from '../form/button.tsx'
import { type Draft, Drafts } from '../form/drafts.ts'

/**
 * A modal dialog, which the browser closes on Escape, after a question if the text of a form would be lost. The browser
 * traps and returns the focus. `data-focus` gets the focus first.
 */
export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ReactNode }) {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  const [drafts] = useState(() => new Set<Draft>())
  const [isAsking, setAsking] = useState(false)
  const leave = (): void => {
    if (Array.from(drafts).some((draft) => draft.isDirty())) setAsking(true)
    else onClose()
  }
  // Closed while it is still in the document. Afterwards the browser would not return the focus.
  useLayoutEffect(() => {
    const dialog = element.current
    const opener = document.activeElement
    if (dialog) show(dialog)
    return () => {
      dialog?.close()
      // After all dialogs have closed that close together.
      queueMicrotask(() => returnFocus(opener))
    }
  }, [])
  return (
    <>
      <dialog
        ref={element}
        className="dialog"
        aria-labelledby={id}
        onCancel={(event) => {
          event.preventDefault()
          leave()
        }}
        // If Escape is pressed repeatedly, Chromium closes a dialog without asking. The page decides, so it is shown again.
        onClose={({ currentTarget }) => {
          if (!currentTarget.isConnected || currentTarget.open) return
          show(currentTarget)
          leave()
        }}
      >
        <h2 id={id} dir="auto">
          {title}
        </h2>
        <Drafts value={drafts}>{children}</Drafts>
      </dialog>
      {isAsking && <Discard onDiscard={onClose} onKeep={() => setAsking(false)} />}
    </>
  )
}

/** Asks before typed text is lost. */
export function Discard({ onDiscard, onKeep }: { onDiscard: () => void; onKeep: () => void }) {
  return (
    <Confirm
      title="Discard changes?"
      action="Discard changes"
      cancel="Keep editing"
      isBusy={false}
      onConfirm={onDiscard}
      onCancel={onKeep}
    >
      <p>What you entered has not been saved.</p>
    </Confirm>
  )
}

/** The browser returns the focus to the button that opened a dialog, unless that was hidden or no longer exists. */
function returnFocus(opener: Element | null): void {
  if (document.activeElement !== document.body) return
  if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
  if (document.activeElement === document.body) document.getElementById('content')?.focus({ preventScroll: true })
}

function show(dialog: HTMLDialogElement): void {
  dialog.showModal()
  dialog.querySelector<HTMLElement>('[data-focus]')?.focus()
}

/** A confirmation. `children` describe the consequences. The focus is on the button that changes nothing. */
export function Confirm(props: {
  title: string
  action: string
  cancel?: string
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
        <Button onClick={props.onCancel} data-focus="">
          {props.cancel ?? 'Cancel'}
        </Button>
      </div>
    </Dialog>
  )
}
