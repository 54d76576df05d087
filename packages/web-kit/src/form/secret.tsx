import { useState } from 'react'
import { toast } from '../feedback/toast.ts'
import { Button } from './button.tsx'

type Copied = {
  text: string
  what: string
  /** Called once the text is in the clipboard. */
  onCopied?: (() => void) | undefined
}

/** Copies a text and says so. */
export function CopyButton({ text, what, onCopied }: Copied) {
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => {
        toast(`${what} copied.`)
        onCopied?.()
      },
      () => toast(`${what} could not be copied. Show it and copy it by hand.`, 'bad'),
    )
  }
  return (
    <Button onClick={copy} aria-label={`Copy ${what}`}>
      Copy
    </Button>
  )
}

/** A text that stays hidden until it is asked for, and can be copied unseen. */
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
