import { useMutation } from '@tanstack/react-query'
import { toastProblem } from '../feedback/index.ts'
import { Button } from './button.tsx'
import { saveFile } from './save-file.ts'

const FORMATS = [
  ['csv', 'Export CSV'],
  ['json', 'Export JSON'],
] as const

/** Saves a list as a file. `load` requests it in a format. */
export function ExportButtons({ name, load }: { name: string; load: (format: 'csv' | 'json') => Promise<Blob> }) {
  const saving = useMutation({
    mutationFn: load,
    onSuccess: (file, format) => saveFile(`${name}.${format}`, file),
    onError: toastProblem,
  })
  return (
    <div className="filter-group">
      {FORMATS.map(([format, text]) => (
        <Button
          key={format}
          isBusy={saving.isPending}
          title="The newest 10,000 matching entries"
          onClick={() => saving.mutate(format)}
        >
          {text}
        </Button>
      ))}
    </div>
  )
}
