import { useState } from 'react'
import { toast } from '../feedback/toast.ts'
import { Button } from './button.tsx'

type Copied = {
  text: string
  what: string
  onCopied?: (() => void) | undefined
}

/** `what` names the text for screen readers. */
export function CopyButton({ text, what, onCopied }: Copied) {
  const copy = (button: HTMLElement): void => {
    copyText(text, button).then(
      () => {
        toast('Copied.')
        onCopied?.()
      },
      () => toast('Could not copy. Show the text and copy it manually.', 'bad'),
    )
  }
  return (
    <Button onClick={({ currentTarget }) => copy(currentTarget)} aria-label={`Copy ${what}`}>
      Copy
    </Button>
  )
}

/**
 * Copies a text. Browsers have a clipboard only for https:// and this machine. Elsewhere, the text is selected and copied
 * as by a key, in a field after `button`, because a dialog makes everything outside of it inert.
 */
async function copyText(text: string, button: HTMLElement): Promise<void> {
  if ('clipboard' in navigator) {
    await navigator.clipboard.writeText(text)
    return
  }
  const field = document.createElement('textarea')
  field.className = 'visually-hidden'
  field.value = text
  button.after(field)
  field.select()
  // oxlint-disable-next-line typescript/no-deprecated -- the only way without a clipboard
  const isCopied = document.execCommand('copy')
  field.remove()
  button.focus()
  if (!isCopied) throw new Error('the browser has not copied the text')
}

/** A visible text that can be copied. */
export function Copyable({ text, what }: Copied) {
  return (
    <span className="secret">
      <code>{text}</code> <CopyButton text={text} what={what} />
    </span>
  )
}

/** A text that stays hidden until it is shown, and can be copied while hidden. */
export function Secret({ text, what, onCopied }: Copied) {
  const [isShown, setShown] = useState(false)
  return (
    <span className="secret">
      <code>{isShown ? text : '•'.repeat(24)}</code>
      <span className="secret-actions">
        <Button onClick={() => setShown(!isShown)} aria-label={`${isShown ? 'Hide' : 'Show'} ${what}`}>
          {isShown ? 'Hide' : 'Show'}
        </Button>
        <CopyButton text={text} what={what} onCopied={onCopied} />
      </span>
    </span>
  )
}
