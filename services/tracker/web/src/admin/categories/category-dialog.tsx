import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { FormDialog, toast } from '@vault-and-tracker/web-kit/feedback'
import { Field, TextField } from '@vault-and-tracker/web-kit/form'
import { api, type ManagedCategory } from '../../api/client.ts'
import { forgetCategories } from './queries.ts'
import type { TreeRow } from './tree.ts'

type Values = { slug: string; name: string; torznabId: number | undefined; parent: string }

/** Makes a category, or changes the one of `row`. */
export function CategoryDialog(props: {
  row: TreeRow | undefined
  roots: readonly ManagedCategory[]
  /** Below which a new one goes at first. */
  parent: string | undefined
  onClose: () => void
}) {
  const { row, roots, parent, onClose } = props
  const category = row?.category
  const queries = useQueryClient()
  const save = useMutation<unknown, ApiError, Values>({
    mutationFn: ({ slug, name, torznabId, parent }) => {
      const id = torznabId === undefined ? {} : { torznabId }
      if (category === undefined)
        return read(
          api.POST('/api/admin/categories', { body: { slug, name, ...id, ...(parent !== '' && { parent }) } }),
        )
      const body = { slug, name, ...id, parent: parent === '' ? null : parent }
      return read(api.PATCH('/api/admin/categories/{id}', { params: { path: { id: category.id } }, body }))
    },
    onSuccess: async (_answer, { name }) => {
      toast(category === undefined ? `${name} was made.` : 'Saved.')
      await forgetCategories(queries)
      onClose()
    },
  })
  const title = category === undefined ? 'New category' : `Category ${category.name}`
  const hasChildren = (row?.subcategories ?? 0) > 0
  const others = roots.filter(({ id }) => id !== category?.id)
  return (
    <FormDialog
      title={title}
      action={category === undefined ? 'Make category' : 'Save'}
      fields={['name', 'slug', 'torznabId', 'parent']}
      error={save.error}
      isBusy={save.isPending}
      onSubmit={({ slug = '', name = '', torznabId = '', parent = '' }) =>
        save.mutate({ slug, name, parent, torznabId: torznabId === '' ? undefined : Number(torznabId) })
      }
      onClose={onClose}
    >
      <TextField
        label="Name"
        name="name"
        defaultValue={category?.name}
        required
        maxLength={60}
        error={save.error}
        data-focus=""
      />
      <TextField
        label="Slug"
        name="slug"
        defaultValue={category?.slug}
        required
        maxLength={40}
        pattern="[a-z0-9]+(-[a-z0-9]+)*"
        title="lower-case words joined by dashes"
        autoCapitalize="off"
        spellCheck={false}
        hint="In addresses and in the API: lower-case words joined by dashes."
        error={save.error}
      />
      <TextField
        label="Torznab id"
        name="torznabId"
        type="number"
        min={1}
        max={999_999}
        required={category !== undefined}
        defaultValue={category?.torznabId}
        hint={category === undefined ? 'May be left out for a well-known slug, such as tv-hd.' : 'What tools search.'}
        error={save.error}
      />
      <Field
        label="Below"
        name="parent"
        hint={hasChildren ? 'It has subcategories of its own, so it stays at the top.' : undefined}
        error={save.error}
      >
        {(attributes) => (
          <select {...attributes} className="input" defaultValue={row?.parent?.slug ?? parentOf(others, parent)}>
            <option value="">Nothing, it is at the top</option>
            {!hasChildren &&
              others.map(({ slug, name }) => (
                <option key={slug} value={slug}>
                  {name}
                </option>
              ))}
          </select>
        )}
      </Field>
    </FormDialog>
  )
}

function parentOf(roots: readonly ManagedCategory[], slug: string | undefined): string {
  return roots.find((root) => root.slug === slug)?.slug ?? ''
}
