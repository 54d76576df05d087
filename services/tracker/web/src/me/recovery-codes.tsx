import { OnceDialog } from '@vault-and-tracker/web-kit/feedback'
import { Button, CopyButton, saveFile } from '@vault-and-tracker/web-kit/form'
import { brand } from '@vault-and-tracker/web-kit/frame'
import { useState } from 'react'

/** Shows recovery codes, which cannot be shown again. */
export function RecoveryCodes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  const [isTaken, setTaken] = useState(false)
  const text = codes.join('\n')
  return (
    <OnceDialog
      title="Your recovery codes"
      isTaken={isTaken}
      take={
        <>
          <CopyButton text={text} what="recovery codes" onCopied={() => setTaken(true)} />
          <Button
            onClick={() => {
              saveFile(`${brand().read().name} recovery codes.txt`, new Blob([text, '\n'], { type: 'text/plain' }))
              setTaken(true)
            }}
          >
            Download
          </Button>
        </>
      }
      warning="You have not saved the codes. They cannot be shown again, but you can replace them."
      leave="Close without saving"
      onClose={onClose}
    >
      <p>
        If you lose your second factor, each code lets you sign in once. Store the codes where only you can read them.
        They are shown only once.
      </p>
      <ul className="recovery-codes">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
    </OnceDialog>
  )
}
