import { describe, expect, test } from '@jest/globals';
import { LightCancellation, toAbortSignal } from './cancellation.ts';

const late = new Error('late');

describe('a light cancellation', () => {
  test('tells every listener once, with its reason in place', () => {
    const cancellation = new LightCancellation();
    const received: string[] = [];
    const note = (name: string) => () => received.push(`${name} ${(cancellation.reason as Error).message}`);
    const first = note('first');
    cancellation.addEventListener('abort', first);
    cancellation.addEventListener('abort', first);
    cancellation.addEventListener('abort', { handleEvent: note('second') });
    cancellation.addEventListener('abort', note('third'));
    expect([cancellation.aborted, cancellation.reason]).toEqual([false, undefined]);
    cancellation.abort(late);
    cancellation.abort(new Error('later'));
    expect([cancellation.aborted, cancellation.reason]).toEqual([true, late]);
    expect(received).toEqual(['first late', 'second late', 'third late']);
  });

  test('tells nobody who has left, in whatever order they came', () => {
    const cancellation = new LightCancellation();
    const received: string[] = [];
    const [a, b, c] = ['a', 'b', 'c'].map((name) => () => void received.push(name)) as [
      () => void,
      () => void,
      () => void,
    ];
    for (const listener of [a, b, c]) cancellation.addEventListener('abort', listener);
    cancellation.removeEventListener('abort', a);
    // It listens already: once more is not twice.
    cancellation.addEventListener('abort', b);
    cancellation.removeEventListener('abort', c);
    cancellation.abort(late);
    expect(received).toEqual(['b']);
  });

  test('becomes a signal of the platform for who needs one', () => {
    const cancellation = new LightCancellation();
    const signal = toAbortSignal(cancellation);
    expect(signal.aborted).toBe(false);
    cancellation.abort(late);
    expect([signal.aborted, signal.reason]).toEqual([true, late]);
    expect(toAbortSignal(cancellation).reason).toBe(late);
    const own = new AbortController().signal;
    expect(toAbortSignal(own)).toBe(own);
  });
});
