import { explainError } from '../api/explain.ts';
import { createStore } from '../app/store.ts';
import type { Tone } from './Badge.tsx';

export interface Toast {
  readonly id: number;
  readonly tone: Tone;
  readonly title: string;
  readonly text: string;
}

/** Long enough to read; what is wrong stays until somebody dismisses it. */
const TOAST_DURATION_MS = 6_000;
const MAX_TOASTS = 4;

export const toasts = createStore<readonly Toast[]>([]);
let lastId = 0;

export function dismissToast(id: number): void {
  toasts.set(toasts.get().filter((toast) => toast.id !== id));
}

/** Says in a corner what has happened, without taking the focus. */
export function showToast(tone: Tone, title: string, text = ''): void {
  // The same thing twice is one thing.
  const others = toasts.get().filter((toast) => toast.title !== title || toast.text !== text);
  const id = (lastId += 1);
  toasts.set([...others, { id, tone, title, text }].slice(-MAX_TOASTS));
  if (tone !== 'danger') setTimeout(() => dismissToast(id), TOAST_DURATION_MS);
}

export function showError(error: unknown): void {
  const { title, text } = explainError(error);
  showToast('danger', title, text);
}
