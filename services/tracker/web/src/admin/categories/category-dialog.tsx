import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type ApiError, read } from '@vault-and-tracker/web-kit/api'
import { FormDialog, toast } from '@vault-and-tracker/web-kit/feedback'
import { SelectField, TextField } from '@vault-and-tracker/web-kit/form'
import { api, type ManagedCategory } from '../../api/client.ts'
import { reloadCategories } from './queries.ts'
import type { TreeRow } from './tree.ts'

type Values = { slug: string; name: string; torznabId: number | undefined; parent: string }

/** Creates a category, or changes the one in `row`. */
export function CategoryDialog(props: {
  row: TreeRow | undefined
  roots: readonly ManagedCategory[]
  /** The initial parent of a new category. */
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
      toast(category === undefined ? `Category ${name} created.` : 'Saved.')
      await reloadCategories(queries)
      onClose()
    },
  })
  const title = category === undefined ? 'Create category' : `Edit category ${category.name}`
  const hasChildren = (row?.subcategories ?? 0) > 0
  const others = roots.filter(({ id }) => id !== category?.id)
  return (
    <FormDialog
      title={title}
      action={category === undefined ? 'Create category' : 'Save category'}
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
        title="Lower-case words joined by dashes"
        autoCapitalize="off"
        spellCheck={false}
        hint="Lower-case words joined by dashes, for URLs and the API."
        error={save.error}
      />
      <TextField
        label="Torznab ID"
        name="torznabId"
        type="number"
        min={1}
        max={999_999}
        required={category !== undefined}
        defaultValue={category?.torznabId}
        hint={
          category === undefined
            ? 'Optional for a standard slug such as tv-hd.'
            : 'The ID that automation tools search for.'
        }
        error={save.error}
      />
      <SelectField
        label="Parent category"
        name="parent"
        defaultValue={row?.parent?.slug ?? others.find(({ slug }) => slug === parent)?.slug}
        choices={[['', 'None'], ...(hasChildren ? [] : others.map(({ slug, name }) => [slug, name] as const))]}
        hint={hasChildren ? 'A category with subcategories cannot have a parent.' : undefined}
        error={save.error}
      />
    </FormDialog>
  )
}
