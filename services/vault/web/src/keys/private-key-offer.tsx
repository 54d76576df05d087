import { OnceDialog } from '@vault-and-tracker/web-kit/feedback'
import { Button, saveFile } from '@vault-and-tracker/web-kit/form'
import { useState } from 'react'

/** Offers a new private key once. It exists only in this page, until the dialog closes. */
export function PrivateKeyOffer(props: {
  project: string
  /** The name of the key. */
  name: string
  privateJwk: string
  title: string
  onClose: () => void
}) {
  const { project, name, privateJwk, title, onClose } = props
  const [isSaved, setSaved] = useState(false)
  const fileName = `${project}${name === 'default' ? '' : `-${name}`}.jwk`
  const save = (): void => {
    saveFile(fileName, new Blob([`${privateJwk}\n`], { type: 'application/json' }))
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
      warning="You have not saved the private key. Without it, the new key cannot be used and you have to replace it."
      leave="Discard key"
      onClose={onClose}
    >
      {isSaved ? (
        <p role="status">
          <code>{fileName}</code> saved. Give the file to its user or application, for example as{' '}
          <code>VAULT_PRIVATE_KEY_FILE</code>, and keep no other copy.
        </p>
      ) : (
        <p>
          The private key was generated in this browser. The vault has only the public key, so save the private key now:
          it cannot be shown again.
        </p>
      )}
    </OnceDialog>
  )
}
