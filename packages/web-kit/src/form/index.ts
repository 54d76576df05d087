export { Button } from './button.tsx'
export { Field, TextArea, TextField } from './field.tsx'
export { Form } from './form.tsx'
export { CopyButton, Secret } from './secret.tsx'
