export { Confirm, Dialog } from './dialog.tsx'
export { Empty, Problem, Skeleton } from './states.tsx'
export { toast } from './toast.ts'
export { Toasts } from './toasts.tsx'
