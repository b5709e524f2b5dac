import { explain } from '../api/explain.ts';
import { createStore } from '../app/store.ts';
import type { Tone } from './Badge.tsx';

export interface Toast {
  readonly id: number;
  readonly tone: Tone;
  readonly title: string;
  readonly text: string;
}

/** Long enough to read; what is wrong stays until somebody dismisses it. */
const SHOWN_MS = 6_000;
const MOST = 4;

export const toasts = createStore<readonly Toast[]>([]);
let last = 0;

export function dismissToast(id: number): void {
  toasts.set(toasts.get().filter((toast) => toast.id !== id));
}

/** Says in a corner what has happened, without taking the focus. */
export function showToast(tone: Tone, title: string, text = ''): void {
  // The same thing twice is one thing.
  const others = toasts.get().filter((toast) => toast.title !== title || toast.text !== text);
  const id = (last += 1);
  toasts.set([...others, { id, tone, title, text }].slice(-MOST));
  if (tone !== 'danger') setTimeout(() => dismissToast(id), SHOWN_MS);
}

export function showError(error: unknown): void {
  const { title, text } = explain(error);
  showToast('danger', title, text);
}
