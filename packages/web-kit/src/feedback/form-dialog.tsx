import type { ComponentProps, ReactNode } from 'react'
import { Button } from '../form/button.tsx'
import { Form } from '../form/form.tsx'
import { Dialog } from './dialog.tsx'

/** A dialog with a form in it. */
export function FormDialog(
  props: Omit<ComponentProps<typeof Form>, 'label' | 'submit' | 'actions'> & {
    title: string
    /** The text of the button that sends the form. */
    action: string
    onClose: () => void
    /** Above the fields. */
    intro?: ReactNode
  },
) {
  const { title, action, onClose, intro, ...form } = props
  return (
    <Dialog title={title} onClose={onClose}>
      {intro}
      <Form {...form} label={title} submit={action} actions={<Button onClick={onClose}>Cancel</Button>} />
    </Dialog>
  )
}
