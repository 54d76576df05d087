import { OnceDialog } from '@vault-and-tracker/web-kit/feedback'
import { Button } from '@vault-and-tracker/web-kit/form'
import { useState } from 'react'
import { saveFile } from './save-file.ts'

/** Offers the private key of a new pair once. It is in this page alone, and gone when the dialog closes. */
export function PrivateKeyOffer(props: { project: string; privateJwk: string; title: string; onClose: () => void }) {
  const { project, privateJwk, title, onClose } = props
  const [isSaved, setSaved] = useState(false)
  const fileName = `${project}.jwk`
  const save = (): void => {
    saveFile(fileName, `${privateJwk}\n`)
    setSaved(true)
  }
  return (
    <OnceDialog
      title={title}
      isTaken={isSaved}
      take={
        <Button kind="main" onClick={save} data-focus="">
          Save {fileName}
        </Button>
      }
      warning="It is not saved. Without it nobody can use the new key, and you have to rotate again."
      leave="Discard the key"
      onClose={onClose}
    >
      {isSaved ? (
        <p role="status">
          <code>{fileName}</code> was saved; this page forgets the key now. Give the file to the application, for
          example as <code>VAULT_PRIVATE_KEY_FILE</code>, and keep no other copy.
        </p>
      ) : (
        <p>
          The private key was made in this browser. The vault has the public key only, so nobody can show it again: save
          it now.
        </p>
      )}
    </OnceDialog>
  )
}
